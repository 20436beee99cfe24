#include "features/jobs/prompt.hpp"

#include <fmt/format.h>

#include "io/beneath.hpp"

namespace agw {

namespace {

constexpr std::size_t prompt_limit = 1024 * 1024;

FileResult<std::string> read_file(const std::filesystem::path& directory, const std::string& path) {
  const auto opened = Directory::open(directory);
  if (!opened) return opened.error();
  return opened->read(path, prompt_limit);
}

[[noreturn]] void refuse(const std::string& path, FileError error) {
  throw JobProblem(fmt::format("prompt file {}: {}", path, to_string(error)));
}

}  // namespace

std::string read_prompt(const Extension& job, const std::filesystem::path& directory) {
  const JobPlan plan(job);
  if (plan.prompt_file) {
    const auto text = read_file(directory, *plan.prompt_file);
    if (!text) refuse(*plan.prompt_file, text.error());
    return to_utf8(*text);
  }
  if (plan.prompt) return *plan.prompt;
  const auto text = read_file(directory, "prompt.md");
  if (text) return to_utf8(*text);
  if (text.error() != FileError::not_found) refuse("prompt.md", text.error());
  return job.description;
}

}  // namespace agw
