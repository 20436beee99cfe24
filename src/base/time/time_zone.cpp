#include "base/time/time_zone.hpp"

#include <algorithm>
#include <cstdlib>

#include <absl/time/time.h>
#include <fmt/format.h>

#include "base/text/ascii.hpp"

namespace agw {

namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

absl::Time to_absl(sys_seconds time) { return absl::FromUnixSeconds(time.time_since_epoch().count()); }

/// The instant of a transition, looked up by the local time after it. That local time exists, perhaps twice.
sys_seconds instant_of(const absl::TimeZone& zone, const absl::TimeZone::CivilTransition& change) {
  return sys_seconds(seconds(absl::ToUnixSeconds(zone.At(change.to).trans)));
}

seconds offset_at(const absl::TimeZone& zone, sys_seconds time) { return seconds(zone.At(to_absl(time)).offset); }

/// Rejects paths, because the library would open any file.
bool is_zone_name(std::string_view name) {
  const auto allowed = [](char c) { return is_alphanumeric(c) || c == '_' || c == '-' || c == '+' || c == '/'; };
  return !name.empty() && name.front() != '/' && std::all_of(name.begin(), name.end(), allowed) && name != "localtime";
}

}  // namespace

struct TimeZone::Rules {
  absl::TimeZone zone;
};

std::optional<TimeZone> TimeZone::named(std::string_view name) {
  absl::TimeZone zone;
  if (!is_zone_name(name) || !absl::LoadTimeZone(std::string(name), &zone)) return std::nullopt;
  return TimeZone(std::make_shared<const Rules>(Rules{zone}));
}

TimeZone TimeZone::host() { return TimeZone(std::make_shared<const Rules>(Rules{absl::LocalTimeZone()})); }

std::string TimeZone::host_problem() {
  const char* set = std::getenv("TZ");
  std::string_view name = set ? set : "";
  if (name.starts_with(':')) name.remove_prefix(1);
  absl::TimeZone zone;
  if (name.empty() || name == "localtime" || absl::LoadTimeZone(std::string(name), &zone)) return {};
  return fmt::format(
      "TZ is {}, which is not in the time zone database: schedules without a zone of their own, days and budgets go by "
      "UTC. Set TZ to a name such as Europe/Berlin",
      name);
}

ZoneSpan TimeZone::span_at(sys_seconds time) const {
  const auto& zone = rules_->zone;
  const auto offset = offset_at(zone, time);
  ZoneSpan span{sys_seconds::min(), sys_seconds::max(), offset, offset};
  absl::TimeZone::CivilTransition change;
  if (zone.PrevTransition(to_absl(time + seconds{1}), &change)) {
    span.begin = instant_of(zone, change);
    span.offset_before = offset_at(zone, span.begin - seconds{1});
  }
  if (zone.NextTransition(to_absl(time), &change)) span.end = instant_of(zone, change);
  return span;
}

}  // namespace agw
