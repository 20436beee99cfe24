#include "features/mcp/server_process.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/resolve_path.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t memory_mb = 4096;

fs::path own_directory(const IntegrationSettings& settings, const fs::path& data_directory) {
  const auto parent = data_directory / "integrations";
  const auto own = parent / settings.name;
  std::error_code error;
  for (const auto& directory : {parent, own}) {
    fs::create_directory(directory, error);
    if (!fs::is_directory(fs::symlink_status(directory, error))) {
      throw ProcessError(fmt::format("{} is no directory and cannot be made one", directory.string()));
    }
    fs::permissions(directory, fs::perms::owner_all, error);
  }
  return own;
}

/// A program of Node needs all that is installed beside it.
fs::path package_directory(const fs::path& file) {
  fs::path directory;
  for (const auto& name : file.parent_path()) {
    if (name == "node_modules") break;
    directory /= name;
  }
  return directory;
}

/// The directory of a program or script that the person named by its whole path and that does not lie in home. One that
/// others share, such as /tmp, is not shown.
std::optional<fs::path> directory_named(const std::string& word, const fs::path& home) {
  std::error_code error;
  if (!word.starts_with('/') || !fs::is_regular_file(word, error)) return std::nullopt;
  auto directory = package_directory(fs::canonical(word, error));
  const bool is_shared = std::distance(directory.begin(), directory.end()) <= 2 || directory == "/var/tmp";
  if (error || is_shared || is_within(directory, home) || is_within(directory, "/usr")) return std::nullopt;
  return directory;
}

/// A command alone that has spaces is one for the shell.
std::vector<std::string> arguments_of(const IntegrationSettings& settings) {
  if (settings.arguments.empty() && settings.command.find(' ') != std::string::npos) {
    return {"/bin/sh", "-c", settings.command};
  }
  std::vector<std::string> arguments{settings.command};
  arguments.insert(arguments.end(), settings.arguments.begin(), settings.arguments.end());
  return arguments;
}

}  // namespace

ProcessOptions server_process(const IntegrationSettings& settings, const Secrets& secrets, const Sandbox& sandbox,
                              const fs::path& home, const fs::path& data_directory) {
  if (settings.command.empty()) throw ProcessError("it has no command");
  const auto own = own_directory(settings, data_directory);
  auto arguments = arguments_of(settings);
  SandboxWish wish{.directory = own,
                   .writable = {own},
                   .readable = {home},
                   .network = true,
                   .environment = {{"HOME", own.string()}},
                   .memory_mb = memory_mb};
  for (const auto& word : arguments) {
    const auto directory = directory_named(word, home);
    if (directory && std::ranges::find(wish.readable, *directory) == wish.readable.end()) {
      wish.readable.push_back(*directory);
    }
  }
  for (const auto& [name, value] : settings.environment) wish.environment[name] = secrets.expand(value);
  return sandbox.wrap(std::move(arguments), wish);
}

}  // namespace agw
