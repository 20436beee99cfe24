#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/time.hpp"

namespace agw {

/// A period in which a zone's UTC offset does not change.
struct ZoneSpan {
  std::chrono::sys_seconds begin;      ///< the preceding transition, or the minimum time
  std::chrono::sys_seconds end;        ///< the next transition, or the maximum time
  std::chrono::seconds offset;         ///< local time minus UTC
  std::chrono::seconds offset_before;  ///< of the preceding period; `offset` if there is none
};

/// A time zone of the IANA database that is installed on the host.
class TimeZone {
public:
  /// nullopt for a name that is not in the database.
  static std::optional<TimeZone> named(std::string_view name);
  /// The host's zone ($TZ, else /etc/localtime).
  static TimeZone host();
  /// The reason why the host's zone cannot be used and UTC replaces it, for people; empty if it can be used.
  static std::string host_problem();

  /// The period that contains `time`.
  ZoneSpan span_at(std::chrono::sys_seconds time) const;

private:
  struct Rules;
  explicit TimeZone(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}
  std::shared_ptr<const Rules> rules_;
};

/// A calendar date in some time zone.
using LocalDay = std::chrono::sys_days;

/// The date at `time` in `zone`.
/// Example: src/base/time/local_day_test.cpp: LocalDay.ChangesAtTheZonesMidnight
LocalDay local_day(Timestamp time, const TimeZone& zone);

/// `2026-01-02`.
std::string to_iso8601(LocalDay day);

}  // namespace agw
