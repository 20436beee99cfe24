#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.hpp"

namespace agw::cli {

/// Settings that affect the updates of a session.
struct UpdateContext {
  std::filesystem::path directory;  ///< where relative paths in tools' inputs start
  bool shows_compaction = false;    ///< the client declared `session.compaction`
};

/// Converts the gateway's events of one thread, and its stored turns, to `update` members of `session/update`.
/// Example: src/cli/acp/event_updates_test.cpp: EventUpdates.ReportsAToolCallFromStartToEnd
class EventUpdates {
public:
  explicit EventUpdates(UpdateContext context) : context_(std::move(context)) {}

  /// The updates for a run's event, `tasks-updated` or `thread-updated`.
  std::vector<json::object> of(const json::object& event);
  /// The updates that replay stored turns, oldest first. The `content` of a picture is the record of its file.
  std::vector<json::object> replay(const std::vector<json::object>& turns);
  /// The update for a message that the person sent with another client.
  static json::object user_message(const json::object& turn);
  /// The list of tasks as a plan.
  static json::object plan(const json::array& tasks);

  /// The content of the call with this `toolCallId` is shown by another update, so its result must not replace it.
  void keep_content(const std::string& call_id);
  /// Returns the `toolCallId` of the active call that has this id within its run; empty if no call has it.
  std::string shown_id(std::string_view id) const;
  /// Returns the `toolCallId` of an active call with this tool and input; empty if there is no such call.
  std::string active_call(const std::string& tool, const json::object& input) const;

private:
  struct Call {
    std::string tool;
    json::object input;
    bool has_diff = false;
  };

  json::object text_chunk(const std::string& run, std::string_view text);
  json::object begin_call(const json::object& event);
  json::object end_call(const json::object& event);
  void add_calls(std::vector<json::object>& updates, const std::string& run, const std::vector<std::string>& ids,
                 std::map<std::string, const json::object*>& calls);
  void add_answer(std::vector<json::object>& updates, const json::object& turn,
                  std::map<std::string, const json::object*>& calls);
  std::vector<json::object> of_thread(const json::object& event);

  UpdateContext context_;
  std::map<std::string, Call> calls_;  ///< active calls by `toolCallId`
  std::string run_;                    ///< the run of the latest text
  std::size_t message_ = 0;            ///< the number of its earlier messages
  bool is_new_message_ = true;         ///< its next text starts a message
  std::string title_;
};

/// A notice for the person.
json::object notice(std::string_view severity, std::string_view title, std::string_view description = {});

}  // namespace agw::cli
