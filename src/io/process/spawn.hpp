#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "io/files/descriptor.hpp"

namespace agw {

/// Numbers of descriptors in a child are below this one; the child needs those above it for itself.
inline constexpr int first_spare_descriptor = 200;

/// Parameters of a child process.
struct SpawnOptions {
  std::string program;  ///< a path
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string directory;
  std::vector<std::pair<int, int>> descriptors;  ///< our descriptors and their numbers in the child
  std::vector<int> ignored_signals;              ///< all others have their default action
  bool die_with_parent = true;                   ///< false: the program ensures that itself
};

/// A running child.
struct SpawnedProcess {
  pid_t id = 0;
  Descriptor descriptor;  ///< a pidfd
};

/// Starts a child as the leader of a new session and process group, without a terminal. If requested, the kernel kills
/// it when the calling thread ends. It inherits only the given descriptors. The cost does not depend on the caller's
/// memory. Throws std::system_error.
SpawnedProcess spawn(const SpawnOptions& plan);

/// Looks up a program in `path` (directories separated by colons). Returns `name` itself if it contains a slash or is
/// not found.
std::string find_program(const std::string& name, const std::string& path);

}  // namespace agw
