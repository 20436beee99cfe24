#include "features/integrations/server_process.hpp"

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/text/is_within.hpp"

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

/// Whether the directory holds unrelated files, as /tmp does.
bool is_shared(const fs::path& directory) {
  return std::distance(directory.begin(), directory.end()) <= 2 || directory == "/var/tmp";
}

/// The directory that a program needs: for a Node program, its `node_modules` with all packages; for a program in the
/// `bin` of a Python or similar environment, the parent of `bin`, which contains the libraries.
fs::path package_directory(const fs::path& file) {
  fs::path directory;
  for (const auto& name : file.parent_path()) {
    if (name == "node_modules") return directory;
    directory /= name;
  }
  std::error_code missing;
  const auto prefix = directory.parent_path();
  const bool is_installed = directory.filename() == "bin" && fs::is_directory(prefix / "lib", missing);
  return is_installed && !is_shared(prefix) ? prefix : directory;
}

/// The directories of a program or script outside of home that is given by its full path, including those of a
/// symlink's target. Of a shared directory, only the file itself.
std::vector<fs::path> places_named(const std::string& word, const fs::path& home) {
  std::vector<fs::path> places;
  std::error_code error;
  if (!word.starts_with('/') || !fs::is_regular_file(word, error)) return places;
  for (const auto& file : {fs::path(word).lexically_normal(), fs::canonical(word, error)}) {
    const auto directory = fs::canonical(package_directory(file), error);
    auto place = is_shared(directory) ? directory / file.filename() : directory;
    if (error || is_within(place, home) || is_within(place, "/usr")) continue;
    if (!contains(places, place)) places.push_back(std::move(place));
  }
  return places;
}

/// Has the shell run a command that contains spaces and has no arguments.
std::vector<std::string> arguments_of(const IntegrationSettings& settings) {
  if (settings.arguments.empty() && settings.command.find(' ') != std::string::npos) {
    return {"/bin/sh", "-c", settings.command};
  }
  std::vector<std::string> arguments{settings.command};
  arguments.insert(arguments.end(), settings.arguments.begin(), settings.arguments.end());
  return arguments;
}

}  // namespace

ServerProcess server_process(const IntegrationSettings& settings, const Secrets& secrets, FilledSecrets withheld,
                             const Sandbox& sandbox, std::shared_ptr<ProxiedNetwork> network, const fs::path& home,
                             const fs::path& data_directory) {
  if (settings.command.empty()) throw ProcessError("it has no command");
  const auto own = own_directory(settings, data_directory);
  auto arguments = arguments_of(settings);
  SandboxSpec spec{.directory = own,
                   .writable = {own},
                   .readable = {home},
                   .network = network.get(),
                   .environment = {{"HOME", own.string()}},
                   .memory_mb = memory_mb};
  for (const auto& word : arguments) {
    for (auto& place : places_named(word, home)) {
      if (!contains(spec.readable, place)) spec.readable.push_back(std::move(place));
    }
  }
  auto all = withheld;
  for (const auto& [name, value] : settings.variables.read()) spec.environment[name] = secrets.expand(value, &all);
  return {.options = sandbox.wrap(std::move(arguments), spec),
          .secrets = std::move(all),
          .withheld = std::move(withheld),
          .network = std::move(network)};
}

}  // namespace agw
