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
  std::chrono::sys_seconds begin;      ///< the change before it, or the minimum time
  std::chrono::sys_seconds end;        ///< the change after it, or the maximum time
  std::chrono::seconds offset;         ///< local time minus UTC
  std::chrono::seconds offset_before;  ///< of the period before; `offset` if there is none
};

/// A time zone of the IANA database that the host has installed.
class TimeZone {
public:
  /// nullopt for a name that is not in the database.
  static std::optional<TimeZone> named(std::string_view name);
  /// The host's zone ($TZ, else /etc/localtime).
  static TimeZone host();
  /// Why the host's zone cannot be used and UTC replaces it, for people; empty if it can be used.
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

/// The date that `zone`'s calendars show at `time`.
/// Example: src/base/time/local_day_test.cpp: LocalDay.ChangesAtTheZonesMidnight
LocalDay local_day(Timestamp time, const TimeZone& zone);

/// `2026-01-02`.
std::string to_iso8601(LocalDay day);

}  // namespace agw
