#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "features/events/event.hpp"

namespace agw {

/// Which events one connection wants, and the messages by which it says so: `{"type":"subscribe","threadId":…}`,
/// `unsubscribe`, `ping`. Until the first subscribe it gets the events of every thread.
class Subscription {
public:
  /// Gives what is under way on the threads (all, for an empty pointer) as the `runs` of a resume.
  using RunsUnderWay = std::function<json::array(const std::set<std::string, std::less<>>* threads)>;

  explicit Subscription(RunsUnderWay runs_under_way) : runs_under_way_(std::move(runs_under_way)) {}

  /// Takes a client's message and returns the answer to it, as JSON.
  std::string take(std::string_view message);

  bool wants(const Event& event) const;

private:
  std::string subscribe(const json::object& message);
  std::string unsubscribe(const json::object& message);
  std::string current_set(bool with_runs) const;

  RunsUnderWay runs_under_way_;
  std::set<std::string, std::less<>> threads_;
  bool narrowed_ = false;
  bool lists_ = false;
};

}  // namespace agw
