#pragma once

#include <filesystem>
#include <string>

#include "base/async/cancellation.hpp"
#include "io/process/blocking.hpp"
#include "io/sandbox/sandbox.hpp"
#include "tools/place.hpp"

namespace agw {

/// The command that decides whether a run is needed, and its environment.
struct Precheck {
  std::string command;
  FileRoots roots;                      ///< of the job's agent
  std::filesystem::path job_directory;  ///< readable for the command, as `JOB_DIRECTORY`
  bool dry = false;                     ///< the command may not write anything
};

/// The decision of a job's precheck about a run.
struct PrecheckResult {
  enum class Verdict { run, skip, fail, stopped };
  Verdict verdict = Verdict::run;
  std::string output{};   ///< UTF-8, without its middle if it is long
  std::string problem{};  ///< why the run is skipped or fails, for people
};

/// Runs the command in the sandbox, in the agent's workspace, without network access. Exit status 0: the job runs; 1:
/// it is skipped. Any other status is a failure, as is a command that cannot be started or takes longer than a minute.
Task<PrecheckResult> run_precheck(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox, Precheck precheck,
                                  StopSource& stop);

}  // namespace agw
