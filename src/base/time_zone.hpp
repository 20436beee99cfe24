#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// A stretch of time in which a zone's clocks do not change.
struct ZoneSpan {
  std::chrono::sys_seconds begin;      ///< the change before; the least time there is where there was none
  std::chrono::sys_seconds end;        ///< the change after it; the greatest time there is where there will be none
  std::chrono::seconds offset;         ///< local time minus UTC
  std::chrono::seconds offset_before;  ///< of the span before; `offset` where there is none
};

/// A time zone of the IANA database that the host has installed.
class TimeZone {
public:
  /// Nothing for a name that is not in the database.
  static std::optional<TimeZone> named(std::string_view name);
  /// The host's ($TZ, else /etc/localtime).
  static TimeZone host();
  /// Why the host's zone cannot be used, and UTC is in its place, for people; empty where it can.
  static std::string host_problem();

  /// The span that `time` is in.
  ZoneSpan span_at(std::chrono::sys_seconds time) const;

private:
  struct Rules;
  explicit TimeZone(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}
  std::shared_ptr<const Rules> rules_;
};

}  // namespace agw
