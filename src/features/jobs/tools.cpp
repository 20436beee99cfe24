#include <fmt/format.h>

#include "features/jobs/service.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

constexpr auto input_schema = R"({
  "type": "object",
  "properties": {"job": {"type": "string", "description": "the job's id or name"}},
  "required": ["job"],
  "additionalProperties": false
})";

Task<ToolOutcome> run_job(Jobs& jobs, const ToolCall& call) {
  const auto job = jobs.require(std::string_view(call.input.at("job").as_string()));
  const auto started = co_await jobs.run_for(call.run, job);
  co_return ToolOutcome{fmt::format("started the job {}; its output goes to thread {}", started.job, started.threadId)};
}

}  // namespace

Tool run_job_tool(Jobs& jobs) {
  return {
      .description = {"RunJob", "Starts a run of a job. It runs in the background, with no more rights than you have.",
                      parse_json(input_schema).value()},
      .effect = ToolEffect::executes,
      .call = [&jobs](const ToolCall& call) { return run_job(jobs, call); }};
}

}  // namespace agw
