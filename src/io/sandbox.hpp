#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/covered_places.hpp"
#include "io/process.hpp"
#include "io/sandbox_mounts.hpp"

namespace agw {

class SandboxPlaceholders;

/// What a sandboxed command may have. The system's programs and libraries are there to be read in any case; of home and
/// of the data directory it sees only what is named here, and of that nothing private (io/private_files.hpp). All paths
/// are absolute, resolved through symlinks, and exist.
struct SandboxWish {
  std::filesystem::path directory;                   ///< the working directory; must be one of those below
  std::vector<std::filesystem::path> writable{};     ///< with all beneath; guarded places in it stay read-only
  std::vector<std::filesystem::path> readable{};     ///< with all beneath
  bool network = false;                              ///< the host's network, its loopback included
  std::map<std::string, std::string> environment{};  ///< beside PATH, HOME, LANG, TERM, TMPDIR
  std::int64_t memory_mb = 2048;                     ///< of each process
  int processes = 256;                               ///< at a time
  std::int64_t file_mb = 4096;                       ///< the largest file that it may write
};

/// Runs commands where they can do no harm: bubblewrap with namespaces of their own, a seccomp filter, no UNIX socket
/// of the host, private /tmp and /run, no other process in sight, a clean environment. Can be used from any thread.
class Sandbox {
public:
  struct Options {
    bool enabled = true;  ///< false: `sandbox: none` of config.yaml; commands run as the user does
    std::filesystem::path home;
    std::filesystem::path data_directory;
    std::string program = "bwrap";  ///< bubblewrap: a name or a path
  };
  explicit Sandbox(Options options);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// Why commands cannot be sandboxed on this host, for people, with what to do about it; nothing where they can. Found
  /// out with the first call, which takes a few milliseconds, and kept.
  std::optional<std::string> problem() const;

  /// False where commands run as the user does.
  bool confines() const { return options_.enabled; }

  /// What to start so that `arguments` run in the sandbox. It looks for private files in all that the wish shows, which
  /// takes a millisecond for each hundred directories, so: not on the loop but
  ///
  ///     Process process(loop, co_await blocking.run([&sandbox, wish] { return sandbox.wrap({"make"}, wish); }));
  ///
  /// Throws ProcessError with `problem()`, or with what is wrong with the wish.
  ProcessOptions wrap(std::vector<std::string> arguments, const SandboxWish& wish) const;

private:
  struct Held;
  struct Probe;
  std::shared_ptr<Descriptor> open_root(const std::filesystem::path& path, bool writable) const;
  std::vector<std::shared_ptr<Descriptor>> open_roots(const SandboxWish& wish) const;
  void show_writable(SandboxMounts& mounts, const std::filesystem::path& root, const FileIdentities& linked,
                     Held& held) const;
  void show_readable(SandboxMounts& mounts, const std::filesystem::path& root, const FileIdentities& linked) const;
  static void hold_missing(CoveredPlaces& covered, const std::filesystem::path& root, Held& held);
  static void hide(SandboxMounts& mounts, const CoveredPlaces& covered);

  Options options_;
  std::shared_ptr<SandboxPlaceholders> placeholders_;
  /// A pipe that only the gateway has the writing end of: a command that finds it closed has no gateway any more.
  std::shared_ptr<Descriptor> life_;
  Descriptor held_life_;
  std::unique_ptr<Probe> probe_;
};

}  // namespace agw
