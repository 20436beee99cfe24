#include "features/knowledge/wanted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "api/error.hpp"
#include "features/knowledge/files.hpp"

namespace agw {

namespace {

std::filesystem::path absolute(std::string_view path, const FileRoots& roots) {
  if (path.starts_with("~/")) return roots.home / path.substr(2);
  return roots.working_directory() / path;
}

std::string path_of(const Descriptor& descriptor) { return fmt::format("/proc/self/fd/{}", descriptor.get()); }

/// A second name may be that of a key.
std::string problem_of(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "no regular file";
  if (status.st_nlink > 1) return "it has several names";
  return status.st_size > static_cast<off_t>(largest_knowledge_file) ? "too large" : "";
}

}  // namespace

WantedFile find_wanted_file(std::string_view path, const FileRoots& roots) {
  WantedFile file;
  if (path.find('\0') != path.npos) return {.target = {}, .problem = "not a possible name", .descriptor = {}};
  file.descriptor = std::make_shared<Descriptor>(::open(absolute(path, roots).c_str(), O_PATH | O_CLOEXEC));
  struct stat status{};
  if (!*file.descriptor || ::fstat(file.descriptor->get(), &status) != 0) {
    file.problem = std::strerror(errno);
    return file;
  }
  const auto real = std::filesystem::read_symlink(path_of(*file.descriptor));
  file.target = {.place = place_of(real, roots), .path = real.string()};
  file.problem = problem_of(status);
  return file;
}

std::string read_wanted_file(const WantedFile& file) {
  const Descriptor opened(::open(path_of(*file.descriptor).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened) throw BadRequest(fmt::format("cannot read {}: {}", file.target.path, std::strerror(errno)));
  std::string content(largest_knowledge_file, '\0');
  std::size_t used = 0;
  while (used < content.size()) {
    const auto got = ::read(opened.get(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw BadRequest(fmt::format("cannot read {}: {}", file.target.path, std::strerror(errno)));
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  content.resize(used);
  return content;
}

}  // namespace agw
