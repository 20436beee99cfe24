#include <memory>

#include "cli/client.hpp"
#include "cli/commands.hpp"
#include "cli/list.hpp"
#include "cli/printable.hpp"
#include "cli/times.hpp"

namespace agw::cli {

namespace {

struct JobsOptions {
  std::optional<std::string> job;
  std::optional<int> limit;
  ListOptions list;
};

std::string cell(const json::object& record, std::string_view member) {
  return one_line(string_member(record, member).value_or(""));
}

std::string next_time(const json::object& job) {
  const auto* due = job.if_contains("next_due");
  if (!due || !due->is_array() || due->get_array().empty() || !due->get_array().front().is_string()) return "";
  return local_time(std::string(due->get_array().front().get_string()));
}

std::string last_end(const json::object& job) {
  const auto* run = job.if_contains("last_run");
  return run && run->is_object() ? cell(run->get_object(), "status") : "never ran";
}

std::string schedule(const json::object& job) {
  const auto* enabled = job.if_contains("enabled");
  const bool off = enabled && enabled->is_bool() && !enabled->get_bool();
  return cell(job, "schedule") + (off ? " (disabled)" : "");
}

int list_jobs(const JobsOptions& options) {
  return print_list(options.list, "/jobs",
                    {text_column("NAME", "name"), {"SCHEDULE", schedule}, {"NEXT", next_time}, {"LAST", last_end}},
                    "jobs");
}

int list_runs(const JobsOptions& options) {
  return print_list(
      options.list, path({"jobs", *options.job, "runs"}, {{"limit", number_text(options.limit)}}),
      {text_column("ID", "id"), text_column("TRIGGER", "trigger"), time_column("STARTED", "started_at"),
       text_column("STATUS", "status"), text_column("MS", "duration_ms"), text_column("ERROR", "error", 60)},
      "runs of this job");
}

}  // namespace

Action jobs_command(Arguments& arguments) {
  auto options = std::make_shared<JobsOptions>();
  arguments.word("job", options->job, "List the runs of this job instead, by name or id");
  arguments.option("--limit", options->limit, 1, max_limit, "At most so many runs (default: 20)");
  declare(arguments, options->list);
  return [options] { return options->job ? list_runs(*options) : list_jobs(*options); };
}

}  // namespace agw::cli
