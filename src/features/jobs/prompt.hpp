#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "features/jobs/plan.hpp"

namespace agw {

/// A job cannot run. The message is the error in the row of its run.
class JobProblem : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The prompt for the job's agent: the text of its `prompt_file`, else its `prompt`, else its prompt.md, else its
/// description. Reads files from the job's `directory` on each call. Blocks. Throws JobProblem for a file that cannot
/// be read.
std::string read_prompt(const Extension& job, const std::filesystem::path& directory);

}  // namespace agw
