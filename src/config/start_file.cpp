#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json/yaml.hpp"
#include "config/environment.hpp"

namespace agw {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw StartError(ExitStatus::usage, fmt::format("{}: {}", file.string(), why));
}

}  // namespace

std::optional<std::string> read_start_file(const std::filesystem::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) {
    const int why = errno;
    if (why == ENOENT && ::lstat(file.c_str(), &status) != 0) return std::nullopt;
    refuse(file, fmt::format("cannot be read: {}", std::strerror(why)));
  }
  // Reading anything else fails without naming the file, or blocks startup.
  if (!S_ISREG(status.st_mode)) refuse(file, "cannot be read: it is no regular file");
  if (static_cast<std::size_t>(status.st_size) > max_yaml_size) refuse(file, "is larger than 1 MiB");
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  if (stream && stream.peek() != std::ifstream::traits_type::eof()) content << stream.rdbuf();
  if (!stream.is_open()) refuse(file, "cannot be read: check its permissions");
  if (stream.bad() || !content) refuse(file, "cannot be read");
  return std::move(content).str();
}

}  // namespace agw
