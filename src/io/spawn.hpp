#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "io/descriptor.hpp"

namespace agw {

/// What a child begins with.
struct SpawnPlan {
  std::string program;  ///< a path
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string directory;
  std::vector<std::pair<int, int>> descriptors;  ///< ours, and the number that the child has it under
  std::vector<int> ignored_signals;              ///< all others do what they do by default
  bool dies_with_parent = true;                  ///< false: the program sees to that itself
};

/// A child that runs.
struct Spawned {
  pid_t id = 0;
  Descriptor descriptor;  ///< a pidfd
};

/// Starts a child as the leader of a session and a process group of its own, without a terminal, which the kernel kills
/// when the calling thread ends, if the plan says so. It has no other descriptors than the plan's. Costs the same
/// however much memory the caller has. Throws std::system_error.
Spawned spawn(const SpawnPlan& plan);

/// The path of a program that is looked up in `path` (directories between colons), or `name` itself where it has a
/// slash or is not found.
std::string find_program(const std::string& name, const std::string& path);

}  // namespace agw
