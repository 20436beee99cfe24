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

/// The paths that a sandboxed command may access. The system's programs and libraries are always readable; of the home
/// and the data directory only the paths named here, without private files (io/sandbox/private_files.hpp). All paths
/// are absolute, resolved and exist.
struct SandboxSpec {
  std::filesystem::path directory;                   ///< the working directory; must be in one of those below
  std::vector<std::filesystem::path> writable{};     ///< with everything beneath; guarded paths in it stay read-only
  std::vector<std::filesystem::path> readable{};     ///< with everything beneath
  std::vector<std::filesystem::path> unchanged{};    ///< files in writable directories that stay read-only
  bool host_network = false;                         ///< the host's network, including its loopback
  SandboxNetwork* network = nullptr;                 ///< or one of its own, which outlives the process
  std::map<std::string, std::string> environment{};  ///< in addition to PATH, HOME, LANG, TERM, TMPDIR
  std::int64_t memory_mb = 2048;                     ///< of each process
  int processes = 256;                               ///< at the same time
  std::int64_t file_mb = 4096;                       ///< the largest file that it may write
};

/// Why a program whose definition declares `secrets` does not start with `sandbox: none`.
inline constexpr auto no_secrets_without_sandbox =
    "`secrets` in a definition need the sandbox, whose network leads through the gateway: remove `sandbox: none` from "
    "config.yaml, or pass ${secret:NAME} in `env` where a definition has it";

/// Runs commands in isolation: bubblewrap with its own namespaces, a seccomp filter, no UNIX sockets of the host,
/// private /tmp and /run, no other processes visible, a clean environment. Thread-safe.
/// Example: src/io/sandbox/sandbox_test.cpp: SandboxTest.RunsCommandsInTheProject
class Sandbox {
public:
  struct Options {
    bool enabled = true;  ///< false: `sandbox: none` of config.yaml; commands run as the user does
    std::filesystem::path home;
    std::filesystem::path data_directory;
    std::filesystem::path own_directory;  ///< in it, no other gateway writes
    std::string program = "bwrap";        ///< bubblewrap: a name or a path
  };
  explicit Sandbox(Options options);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// Why commands cannot be sandboxed on this host, and what to do about it, for people; nullopt if they can.
  /// Determined by the first call, which takes a few milliseconds, and cached.
  std::optional<std::string> problem() const;

  /// False if commands run as the user does.
  bool is_enabled() const { return options_.enabled; }

  /// The process that runs `arguments` in the sandbox. Scans all exposed directories for private files, which takes a
  /// millisecond for each hundred directories, so do not call it on the loop:
  ///
  ///     Process process(loop, co_await blocking.run([&sandbox, spec] { return sandbox.wrap({"make"}, spec); }));
  ///
  /// Throws ProcessError with `problem()`, or with what is wrong with the spec.
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
  /// A pipe whose writing end only the gateway holds: when it is closed, commands know that the gateway is gone.
  std::shared_ptr<Descriptor> lifeline_;
  Descriptor lifeline_end_;
  std::unique_ptr<Probe> probe_;
};

}  // namespace agw
