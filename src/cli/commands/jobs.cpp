#include <memory>
#include <ranges>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/table.hpp"

namespace agw::cli {

namespace {

constexpr std::size_t times_shown = 3;
constexpr std::size_t date_length = std::string_view("2026-01-02").size();
constexpr std::size_t year_length = std::string_view("2026").size();

struct JobsOptions {
  std::optional<std::string> job;
  std::optional<int> limit;
  ListOptions list;
};

std::string cell(const json::object& record, std::string_view member) {
  return one_line(string_member(record, member).value_or(""));
}

json::array list_of(const json::object& record, std::string_view member) {
  const auto* list = array_member(record, member);
  return list ? *list : json::array();
}

/// `time` without the date or year that it shares with the previous time.
std::string news_of(const std::string& time, const std::string& before) {
  if (time.substr(0, date_length) == before.substr(0, date_length)) return time.substr(date_length + 1);
  if (time.substr(0, year_length) == before.substr(0, year_length)) return time.substr(year_length + 1);
  return time;
}

/// The next due times: `2026-01-02 09:00, 01-03 09:00, 01-04 09:00`.
std::string next_times(const json::object& job) {
  std::string text;
  std::string before;
  for (const auto& due : list_of(job, "next_due") | std::views::take(times_shown)) {
    const auto time = local_time(due.is_string() ? std::string_view(due.get_string()) : "");
    text += before.empty() ? time : ", " + news_of(time, before);
    before = time;
  }
  return text;
}

std::string success(const json::object& job) {
  const auto* rate = job.if_contains("success_rate");
  return rate && rate->is_number() ? fmt::format("{:.0f} %", 100 * rate->to_number<double>()) : "";
}

/// The durations of the latest runs as a chart, newest last.
std::string durations(const json::object& job) {
  std::vector<double> took;
  for (const auto& run : list_of(job, "recent_runs") | std::views::reverse) {
    const auto* duration = run.is_object() ? run.get_object().if_contains("duration_ms") : nullptr;
    if (duration && duration->is_number()) took.push_back(duration->to_number<double>());
  }
  return sparkline(took);
}

std::string last_end(const json::object& job) {
  const auto* run = object_member(job, "last_run");
  return run ? cell(*run, "status") : "never ran";
}

/// The job's trigger.
std::string schedule(const json::object& job) {
  const auto trigger = string_member(job, "trigger");
  auto text = trigger == "event"     ? "on " + cell(job, "event")
              : trigger == "webhook" ? "webhook"
                                     : cell(job, "schedule");
  const auto* enabled = job.if_contains("enabled");
  const bool off = enabled && enabled->is_bool() && !enabled->get_bool();
  if (off) text += text.empty() ? "(disabled)" : " (disabled)";
  return text;
}

int list_jobs(const JobsOptions& options) {
  return print_list(options.list, "/jobs",
                    {text_column("NAME", "name"),
                     {"SCHEDULE", schedule},
                     {"NEXT", next_times},
                     {"LAST", last_end},
                     {"SUCCESS", success},
                     {"DURATIONS", durations}},
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
  arguments.word("job", options->job, "List the runs of this job, by name or id");
  arguments.option("--limit", options->limit, 1, max_limit, "The maximum number of runs (default: 20)");
  declare(arguments, options->list);
  return [options] { return options->job ? list_runs(*options) : list_jobs(*options); };
}

}  // namespace agw::cli
