#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/cron.hpp"
#include "base/json/json_values.hpp"
#include "base/time/time_zone.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

constexpr std::int64_t minute_ms = 60'000;
constexpr std::int64_t hour_ms = 60 * minute_ms;
constexpr std::int64_t day_ms = 24 * hour_ms;

/// An interval as a cron expression, if it divides an hour or a day evenly.
std::optional<std::string> cron_of_interval(std::int64_t every_ms) {
  if (every_ms >= minute_ms && every_ms < hour_ms && hour_ms % every_ms == 0 && every_ms % minute_ms == 0)
    return fmt::format("*/{} * * * *", every_ms / minute_ms);
  if (every_ms >= hour_ms && every_ms < day_ms && day_ms % every_ms == 0 && every_ms % hour_ms == 0)
    return fmt::format("0 */{} * * *", every_ms / hour_ms);
  if (every_ms == day_ms) return "0 0 * * *";
  return std::nullopt;
}

/// The interval in milliseconds; 0 if it is invalid or longer than a day.
std::int64_t interval_of(const json::object& schedule) {
  const auto member = [&](std::string_view name, std::int64_t unit) -> std::int64_t {
    const auto* value = schedule.if_contains(name);
    if (!value || !value->is_int64() || value->get_int64() < 0 || value->get_int64() > day_ms / unit) return 0;
    return value->get_int64() * unit;
  };
  const auto kind = string_or_empty(schedule, "kind");
  return kind == "every" ? member("everyMs", 1) : kind == "interval" ? member("minutes", minute_ms) : 0;
}

/// The cron expression of a job; nullopt, with a report, if its schedule cannot be expressed.
std::optional<std::string> cron_of(Importer& importer, const std::string& what, const json::object& schedule) {
  const auto kind = string_or_empty(schedule, "kind");
  auto expression =
      kind == "cron" ? std::optional(string_or_empty(schedule, "expr")) : cron_of_interval(interval_of(schedule));
  if (!expression) {
    importer.leave(
        what, kind == "at" || kind == "once" ? "is due a single time" : "has an interval that no cron expression has");
    return std::nullopt;
  }
  try {
    const Cron cron(*expression);
  } catch (const CronError& error) {
    importer.leave(what, fmt::format("its schedule `{}` is not read here: {}", *expression, error.what()));
    return std::nullopt;
  }
  return expression;
}

/// The time zone of a schedule, if it has one. Reports an unknown zone.
std::optional<std::string> zone_of(Importer& importer, const std::string& what, const json::object& schedule) {
  auto zone = string_or_empty(schedule, "tz");
  if (zone.empty()) return std::nullopt;
  if (TimeZone::named(zone)) return zone;
  importer.leave("time zone of " + what,
                 fmt::format("is {}, which is unknown here: the schedule follows this machine's zone", zone));
  return std::nullopt;
}

std::string prompt_of(const json::object& job) {
  const auto payload = object_or_empty(job, "payload");
  for (auto prompt :
       {string_or_empty(job, "prompt"), string_or_empty(payload, "message"), string_or_empty(payload, "text")})
    if (!prompt.empty()) return prompt;
  return {};
}

}  // namespace

void import_job(Importer& importer, const json::object& job, const std::string& agent) {
  const auto id = string_or_empty(job, "id");
  auto name = string_or_empty(job, "name");
  if (name.empty()) name = "job-" + id;
  const auto what = "job " + name;
  const auto prompt = prompt_of(job);
  if (prompt.empty()) return importer.leave(what, "has no message for an agent");
  const auto timing = object_or_empty(job, "schedule");
  const auto schedule = cron_of(importer, what, timing);
  if (!schedule) return;
  if (!string_or_empty(job, "script").empty())
    importer.leave("script of " + what, "is not taken: a `precheck` of the job can run one");
  leave_settings(
      importer, what, job,
      {"id",          "name",        "prompt",      "payload",     "schedule",   "description",  "script",
       "enabled",     "state",       "createdAtMs", "updatedAtMs", "created_at", "updated_at",   "schedule_display",
       "next_run_at", "last_run_at", "last_status", "last_error",  "paused_at",  "paused_reason"});
  json::object body{{"type", "job"},
                    {"name", name},
                    {"description", string_or_empty(job, "description")},
                    {"definition", json::object{{"agent_id", agent}, {"prompt", prompt}}}};
  if (const auto zone = zone_of(importer, what, timing))
    body["trigger_def"] = {{"type", "cron"}, {"expression", *schedule}, {"timezone", *zone}};
  else
    body["definition"].get_object()["schedule"] = *schedule;
  importer.add_extension(std::move(body), "cron/" + (id.empty() ? name : id));
}

void import_jobs(Importer& importer, const std::filesystem::path& file, const std::string& agent) {
  const auto settings = settings_in_file(importer, file);
  if (!settings) return;
  const auto* jobs = array_member(*settings, "jobs");
  if (!jobs) return importer.leave(file.string(), "has no list of jobs");
  for (const auto& job : *jobs) {
    if (job.is_object()) import_job(importer, job.get_object(), agent);
  }
}

}  // namespace agw::cli
