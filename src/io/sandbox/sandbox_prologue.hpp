#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/files/descriptor.hpp"
#include "io/sandbox/sandbox_mounts.hpp"

namespace agw {

struct SandboxSpec;

/// Creates a file in memory, positioned at its beginning. bubblewrap and shells read theirs to the end, so each needs
/// its own. Throws ProcessError.
std::shared_ptr<Descriptor> memory_file(const char* name, std::string_view content);

/// The prologue of a sandboxed command: a shell script that makes checks and sets limits and the command's variables. A
/// bash command runs in the shell that has read the script; other commands are executed by it.
/// Example: src/io/sandbox/sandbox_test.cpp: SandboxTest.ACommandOfBashNoticesNothingOfWhatRanBefore
class SandboxPrologue {
public:
  // The descriptor numbers that the script expects: /proc/<pid>/stat of the gateway, the variables, the roots in the
  // order of the spec, the script itself, and, if there is a network, a pipe with the line that reports it as ready.
  static constexpr int gateway_descriptor = 4;
  static constexpr int variables_descriptor = 5;
  static constexpr int first_root_descriptor = 6;
  static constexpr int script_descriptor = 195;
  static constexpr int ready_descriptor = 199;

  /// Throws ProcessError for names that a shell can neither set nor read, and for values that contain a NUL.
  static void check_names(const std::map<std::string, std::string>& variables);

  /// `variables` are those of the command.
  SandboxPrologue(const SandboxSpec& spec, std::vector<std::string> command,
                  const std::map<std::string, std::string>& variables);

  /// The program that bubblewrap executes.
  const SandboxArguments& arguments() const { return arguments_; }
  /// The other descriptors that the program needs, with their numbers in the sandbox.
  const std::vector<std::pair<std::shared_ptr<Descriptor>, int>>& descriptors() const { return descriptors_; }

private:
  SandboxArguments arguments_;
  std::vector<std::pair<std::shared_ptr<Descriptor>, int>> descriptors_;
};

}  // namespace agw
