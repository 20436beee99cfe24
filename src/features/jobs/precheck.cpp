#include "features/jobs/precheck.hpp"

#include <fmt/format.h>

#include "base/json/json.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "io/process/process.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto precheck_time_limit = 60s;
constexpr std::size_t max_precheck_output = std::size_t{32} * 1024;
/// Bytes of the output that an error quotes.
constexpr std::size_t max_quoted_output = 2000;

SandboxSpec sandbox_spec(const Precheck& precheck) {
  SandboxSpec spec{.directory = precheck.roots.workspace()};
  (precheck.dry ? spec.readable : spec.writable).push_back(precheck.roots.workspace());
  std::error_code missing;
  if (std::filesystem::is_directory(precheck.job_directory, missing)) {
    spec.readable.push_back(precheck.job_directory);
    spec.environment = {{"JOB_DIRECTORY", precheck.job_directory.string()}};
  }
  return spec;
}

PrecheckResult precheck_failure(const std::string& why, std::string output = {}) {
  auto problem = "the precheck " + why;
  output.resize(output.find_last_not_of(white_space) + 1);
  if (!output.empty()) problem += ": " + shortened(output, max_quoted_output);
  return {.verdict = PrecheckResult::Verdict::fail, .problem = std::move(problem)};
}

PrecheckResult precheck_result(const ProcessResult& result) {
  auto output = to_utf8(result.output);
  if (result.stopped) return {.verdict = PrecheckResult::Verdict::stopped};
  if (result.timed_out)
    return precheck_failure(fmt::format("took longer than {} s", precheck_time_limit.count()), std::move(output));
  if (result.end.exit_code == 0) return {.output = std::move(output)};
  if (result.end.exit_code == 1)
    return {.verdict = PrecheckResult::Verdict::skip, .problem = "the precheck found nothing to do"};
  return precheck_failure(fmt::format("failed with exit status {}", result.end.exit_code), std::move(output));
}

}  // namespace

Task<PrecheckResult> run_precheck(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox, Precheck precheck,
                                  StopSource& stop) {
  try {
    auto options = co_await blocking.run([&sandbox, precheck] {
      make_workspace(precheck.roots);
      return sandbox.wrap({"sh", "-c", precheck.command}, sandbox_spec(precheck));
    });
    const ProcessLimits limits{.time = precheck_time_limit, .output = max_precheck_output};
    co_return precheck_result(co_await run_process(loop, std::move(options), "", limits, stop));
  } catch (const std::exception& error) {
    co_return precheck_failure("cannot be started", error.what());
  }
}

}  // namespace agw
