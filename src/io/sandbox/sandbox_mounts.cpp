#include "io/sandbox/sandbox_mounts.hpp"

#include <unistd.h>

#include <array>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "base/async/assert.hpp"
#include "base/containers.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t mebibyte = std::int64_t{1024} * 1024;

/// The directories of programs and libraries. On most systems the former are links into the latter.
constexpr std::array linked_to_usr{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
constexpr std::array programs{"/usr", "/opt", "/nix", "/gnu", "/sys/devices/system/cpu"};

constexpr auto settings = "/etc";

SandboxArguments hidden_directory(const std::string& path) {
  return {"--size", "4096", "--perms", "0000", "--tmpfs", path};
}

SandboxArguments bound(const char* how, const std::string& from, const std::string& to) { return {how, from, to}; }

SandboxArguments hidden_file(const std::string& path) { return bound("--ro-bind", "/dev/null", path); }

bool is_for_all(const fs::directory_entry& entry) {
  const auto status = entry.symlink_status();
  const auto needed =
      fs::is_directory(status) ? fs::perms::others_read | fs::perms::others_exec : fs::perms::others_read;
  return fs::is_symlink(status) || (status.permissions() & needed) == needed;
}

/// System settings that the gateway can read, but not every user.
std::vector<fs::path> find_restricted_settings() {
  std::vector<fs::path> found;
  std::error_code error;
  fs::recursive_directory_iterator all(settings, fs::directory_options::skip_permission_denied, error);
  for (; !error && all != fs::recursive_directory_iterator(); all.increment(error)) {
    if (is_for_all(*all)) continue;
    if (::access(all->path().c_str(), R_OK) == 0) found.push_back(all->path());
    if (fs::is_directory(all->symlink_status())) all.disable_recursion_pending();
  }
  return found;
}

const std::vector<fs::path>& restricted_settings() {
  static const auto found = find_restricted_settings();
  return found;
}

/// Name resolution often depends on a link into /run.
void append_resolver(SandboxArguments& out) {
  std::error_code missing;
  const auto target = fs::canonical("/etc/resolv.conf", missing);
  if (!missing && target.string().starts_with("/run/")) append(out, bound("--ro-bind", target, target));
}

void append_system(SandboxArguments& out) {
  for (const auto* path : programs) append(out, bound("--ro-bind-try", path, path));
  for (const auto* path : linked_to_usr) {
    std::error_code no_link;
    const auto target = fs::read_symlink(path, no_link);
    if (no_link) {
      append(out, bound("--ro-bind-try", path, path));
    } else {
      append(out, bound("--symlink", target, path));
    }
  }
  append(out, bound("--ro-bind", settings, settings));
  // These mounts stay writable, because making them read-only costs as much as the mount: at worst, root can write to a
  // mount that no other process sees.
  for (const auto& path : restricted_settings())
    append(out, fs::is_directory(path) ? hidden_directory(path.string()) : hidden_file(path.string()));
}

SandboxArguments temporary(const std::string& path, std::int64_t megabytes) {
  // The kernel takes 0 for no limit.
  AGW_ASSERT(megabytes > 0);
  return {"--size", std::to_string(megabytes * mebibyte), "--perms", "0700", "--tmpfs", path};
}

}  // namespace

void SandboxMounts::add(const fs::path& path, SandboxArguments arguments) {
  AGW_DEBUG_ASSERT(path.is_absolute());
  AGW_ASSERT(!arguments.empty());
  const auto depth = static_cast<std::size_t>(std::distance(path.begin(), path.end()));
  mounts_.push_back({depth, std::move(arguments)});
}

void SandboxMounts::show_writable(const fs::path& path) { add(path, bound("--bind", path, path)); }

void SandboxMounts::show_read_only(const fs::path& path) { add(path, bound("--ro-bind", path, path)); }

void SandboxMounts::empty_directory(const fs::path& path, std::int64_t megabytes) {
  add(path, temporary(path.string(), megabytes));
}

void SandboxMounts::hide_directory(const fs::path& path) {
  auto arguments = hidden_directory(path.string());
  // Read-only, because writes there would be lost.
  append(arguments, {"--remount-ro", path.string()});
  add(path, std::move(arguments));
}

void SandboxMounts::hide_file(const fs::path& path) { add(path, hidden_file(path.string())); }

void SandboxMounts::show_content(const fs::path& path, int descriptor) {
  AGW_ASSERT(descriptor > STDERR_FILENO);
  add(path, {"--perms", "0444", "--ro-bind-data", std::to_string(descriptor), path.string()});
}

SandboxArguments SandboxMounts::arguments(std::int64_t scratch_megabytes) const {
  SandboxArguments out;
  append_system(out);
  append(out, {"--proc", "/proc", "--dev", "/dev"});
  append(out, temporary("/dev/shm", scratch_megabytes));
  for (const auto* path : {"/tmp", "/run", "/var/tmp"}) append(out, temporary(path, scratch_megabytes));
  append_resolver(out);
  std::multimap<std::size_t, const SandboxArguments*> by_depth;
  for (const auto& mount : mounts_) by_depth.emplace(mount.depth, &mount.arguments);
  AGW_ASSERT(by_depth.size() == mounts_.size());
  for (const auto& [depth, mount] : by_depth) append(out, *mount);
  // Root could write to it and change the kernel's settings through it, which would break out of the sandbox.
  append(out, {"--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"});
  return out;
}

}  // namespace agw
