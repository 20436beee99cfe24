#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/process.hpp"

namespace agw {

/// What a sandboxed command may have. The system's programs and libraries are there to be read in any case; of home and
/// of the data directory it sees only what is named here, and of that nothing private (see tools/place.hpp).
struct SandboxWish {
  std::filesystem::path directory;                   ///< the working directory; must be one of those below
  std::vector<std::filesystem::path> writable{};     ///< with all beneath; guarded places in it stay read-only
  std::vector<std::filesystem::path> readable{};     ///< with all beneath
  bool network = false;                              ///< the host's network, its loopback included
  std::map<std::string, std::string> environment{};  ///< beside PATH, HOME, LANG, TERM, TMPDIR
  std::int64_t memory_mb = 2048;                     ///< of each process
  int processes = 256;                               ///< at a time
};

/// Runs commands where they can do no harm: bubblewrap with namespaces of their own, a seccomp filter, no UNIX socket
/// of the host, private /tmp and /run, no other process in sight, a clean environment.
class Sandbox {
public:
  struct Options {
    bool enabled = true;  ///< false: `sandbox: none` of config.yaml; commands run as the user does
    std::filesystem::path home;
    std::filesystem::path data_directory;
  };
  explicit Sandbox(Options options);

  /// Why commands cannot be sandboxed on this host, for people, with what to do about it; nothing where they can. Found
  /// out with the first call, which takes a few milliseconds, and kept.
  std::optional<std::string> problem() const;

  /// What to start so that `arguments` run in the sandbox. Throws ProcessError with `problem()`.
  ProcessOptions wrap(std::vector<std::string> arguments, const SandboxWish& wish) const;

private:
  Options options_;
  mutable std::optional<std::optional<std::string>> problem_;
};

}  // namespace agw
