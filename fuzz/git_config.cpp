// The `.git/config` of a project, which a program in the sandbox may have written: reading it never fails.

#include <filesystem>
#include <fstream>

#include "fuzz/support/fuzzing.hpp"
#include "io/sandbox/git_settings.hpp"
#include "testing/scratch_directory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const agw::testing::ScratchDirectory scratch;
  static const auto project = scratch.path() / "project";
  static const auto repository = project / ".git";
  static const bool is_made = std::filesystem::create_directories(repository / "worktrees" / "one");
  agw::fuzzing::require(is_made);
  std::ofstream(repository / "config", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const agw::GitSettings settings(repository);
  settings.tolerates_commondir(project, false);
  settings.tolerates_commondir(project, true);
  for (const auto& file : settings.configurations_of_worktrees()) {
    agw::fuzzing::require(file.string().starts_with(repository.string() + "/"));
  }
  return 0;
}
