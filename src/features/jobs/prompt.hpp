#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "features/jobs/plan.hpp"

namespace agw {

/// A job cannot run; the message says why, for its row.
class JobProblem : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The prompt for the job's agent: the text of its `prompt_file`, else its `prompt`, else its prompt.md, else its
/// description. Files are read from `directory`, the job's, at each call. Blocks. Throws JobProblem for a file that
/// cannot be read.
std::string read_prompt(const Extension& job, const std::filesystem::path& directory);

}  // namespace agw
