#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/runs/types.hpp"

namespace agw {

/// The log of an active run: its text and the boundaries of the events in it. Events are rendered on demand, because
/// ten minutes of events as JSON would be many times the size of the text.
/// Example: src/features/runs/run_log_test.cpp: RunLog.RendersAgainWhatWasSent
class RunLog {
public:
  explicit RunLog(const Run& run);

  // These append an event and return it as JSON to send. `seq` counts from 1.

  std::string text(std::string_view delta);
  std::string reasoning(std::string_view delta);
  /// An event of any other kind. Appends `members` to the common ones; a `turnId` in them replaces the common one.
  std::string other(std::string_view type, const json::object& members);
  /// Removes the last event, which must be one of `other` that was not sent yet.
  void take_back_other();

  /// The events after `after`, exactly as they were sent, up to `last`.
  std::vector<std::string> events_after(std::int64_t after, std::int64_t last) const;
  std::vector<std::string> events_after(std::int64_t after) const { return events_after(after, seq()); }

  /// The answer so far: the text deltas, concatenated.
  const std::string& content() const { return text_; }
  const std::string& reasoning_content() const { return reasoning_; }
  std::int64_t seq() const { return static_cast<std::int64_t>(entries_.size()); }

  /// The events after `after`, up to `last`, for the database. Excludes their text, which is stored separately.
  std::string pack_events(std::int64_t after, std::int64_t last) const;
  /// Appends events that `pack_events` has packed, and their text.
  void add_packed(std::string_view text, std::string_view events);

  /// Converts the log to one text for the database, and back.
  std::string pack() const;
  static std::optional<RunLog> unpack(const Run& run, std::string_view packed);

private:
  enum class Kind : std::uint8_t { text, reasoning, other };
  struct Entry {
    Kind kind;
    std::uint32_t size;  ///< bytes of a delta
  };

  json::object packed(std::int64_t after, std::int64_t last) const;
  void add(const json::object& packed);
  std::string render(std::int64_t seq, std::string_view type, std::string_view member, std::string_view value) const;
  enum class TurnId { of_run, of_event };
  std::string head(std::int64_t seq, std::string_view type, TurnId turn_id = TurnId::of_run) const;

  // The members that all events of the run share, as JSON.
  std::string thread_id_;
  std::string turn_id_;
  std::string run_id_;
  std::string text_;
  std::string reasoning_;
  std::vector<Entry> entries_;
  std::vector<std::string> others_;
};

}  // namespace agw
