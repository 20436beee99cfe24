#include "features/jobs/prompt.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "io/files/directory.hpp"

namespace agw {

namespace {

constexpr std::size_t prompt_limit = 1024 * 1024;

[[noreturn]] void refuse_prompt_file(const std::string& path, std::string_view why) {
  throw JobProblem(fmt::format("prompt file {}: {}", path, why));
}

/// No value if there is no such file. Replaces invalid UTF-8, but rejects a file that is not text.
std::optional<std::string> read_text(const std::filesystem::path& directory, const std::string& path) {
  const auto opened = Directory::open(directory);
  const auto bytes = opened ? opened->read(path, prompt_limit) : FileResult<std::string>(opened.error());
  if (bytes.has_error() && bytes.error() == FileError::not_found) return std::nullopt;
  if (!bytes) refuse_prompt_file(path, to_string(bytes.error()));
  if (bytes->find('\0') != bytes->npos) refuse_prompt_file(path, "a binary file");
  return to_utf8(*bytes);
}

}  // namespace

std::string read_prompt(const Extension& job, const std::filesystem::path& directory) {
  AGW_DEBUG_ASSERT(may_block());

  const JobPlan plan(job);
  if (plan.prompt_file) {
    auto text = read_text(directory, *plan.prompt_file);
    if (!text) refuse_prompt_file(*plan.prompt_file, to_string(FileError::not_found));
    return std::move(*text);
  }
  if (plan.prompt) return *plan.prompt;
  if (auto text = read_text(directory, "prompt.md")) return std::move(*text);
  return job.description;
}

}  // namespace agw
