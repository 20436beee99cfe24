#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/process/process.hpp"
#include "io/sandbox/masked_paths.hpp"
#include "io/sandbox/sandbox_mounts.hpp"

namespace agw {

class SandboxNetwork;
class SandboxPlaceholders;

/// The paths that a sandboxed command may access. The system's programs and libraries are always readable; home and
/// data directory only as listed here, without private files (io/sandbox/private_files.hpp). All paths must be
/// absolute, resolved and existing.
struct SandboxSpec {
  std::filesystem::path directory;                 ///< the working directory; must be in one of those below
  std::vector<std::filesystem::path> writable{};   ///< including all contents; guarded paths in them stay read-only
  std::vector<std::filesystem::path> readable{};   ///< including all contents
  std::vector<std::filesystem::path> unchanged{};  ///< files in writable directories that stay read-only
  bool host_network = false;                       ///< use the host's network, including its loopback
  SandboxNetwork* network = nullptr;               ///< or a separate one, which must outlive the process
  bool unix_sockets = false;  ///< allow UNIX sockets; only without `host_network`, because of abstract ones of the host
  std::map<std::string, std::string> environment{};  ///< in addition to PATH, HOME, LANG, TERM, TMPDIR
  std::int64_t memory_mb = 2048;                     ///< of each process
  int processes = 256;                               ///< at the same time
  std::int64_t file_mb = 4096;                       ///< the maximum size of a file that it writes
};

/// The error for a program whose definition declares `secrets` if the configuration has `sandbox: none`.
inline constexpr auto no_secrets_without_sandbox =
    "`secrets` in a definition need the sandbox, whose network leads through the gateway: remove `sandbox: none` from "
    "config.yaml, or pass ${secret:NAME} in `env` where a definition has it";

/// Runs commands in isolation: bubblewrap with its own namespaces, a seccomp filter, no UNIX sockets of the host,
/// private /tmp and /run, no other processes visible, a clean environment. Thread-safe.
/// Example: src/io/sandbox/sandbox_test.cpp: SandboxTest.RunsCommandsInTheProject
class Sandbox {
public:
  struct Options {
    bool enabled = true;  ///< false: `sandbox: none` of config.yaml; commands run with the user's rights
    std::filesystem::path home;
    std::filesystem::path data_directory;
    std::filesystem::path own_directory;  ///< other gateways must not write to it
    std::string program = "bwrap";        ///< bubblewrap: a name or a path
  };
  explicit Sandbox(Options options);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// The reason why commands cannot be sandboxed on this host, and the remedy, for people; nullopt if they can. Takes a
  /// few milliseconds until it succeeds once: a problem may pass, such as too few descriptors, or be remedied.
  std::optional<std::string> problem() const;

  /// False if commands run with the user's rights.
  bool is_enabled() const { return options_.enabled; }

  /// The process that runs `arguments` in the sandbox. Scans all exposed directories for private files, which takes a
  /// millisecond per hundred directories, so do not call it on the loop:
  ///
  ///     Process process(loop, co_await blocking.run([&sandbox, spec] { return sandbox.wrap({"make"}, spec); }));
  ///
  /// Throws ProcessError with `problem()` or with a problem of the spec.
  ProcessOptions wrap(std::vector<std::string> arguments, const SandboxSpec& spec) const;

private:
  struct Resources;
  struct Probe;
  std::shared_ptr<Descriptor> open_root(const std::filesystem::path& path, bool writable) const;
  std::vector<std::shared_ptr<Descriptor>> open_roots(const SandboxSpec& spec) const;
  SandboxMounts mounts_of(const SandboxSpec& spec, Resources& held) const;
  void bind_writable(SandboxMounts& mounts, const std::filesystem::path& root, const FileIdentities& linked,
                     Resources& held) const;
  void bind_readable(SandboxMounts& mounts, const std::filesystem::path& root, const FileIdentities& linked) const;
  static void add_placeholders(MaskedPaths& masked, const std::filesystem::path& root, Resources& held);
  static void hide(SandboxMounts& mounts, const MaskedPaths& masked);

  Options options_;
  std::shared_ptr<SandboxPlaceholders> placeholders_;
  std::unique_ptr<Probe> probe_;
};

}  // namespace agw
