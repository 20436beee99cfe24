#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "storage/changes.hpp"

namespace agw {

/// Updates records in memory after changes by other nodes: passes the changes of each topic to the code that holds its
/// records, one batch at a time. Use it on the loop only.
/// Example: src/storage/change_follower_test.cpp: ChangeFollowerTest.PassesEachTopicItsKeysOnce
class ChangeFollower {
public:
  /// Rereads the records with these keys through `Database::write`, whose results arrive in commit order. A change by
  /// this node is therefore never replaced by an older version.
  using Refresh = std::function<Task<>(std::vector<std::string> keys)>;

  explicit ChangeFollower(Loop& loop);

  /// Call it once per topic.
  void follow(std::string topic, Refresh refresh);
  /// A failed refresh is retried with the next changes, and every second.
  void take(std::vector<RecordChange> changes);
  /// Waits for the current refresh; further changes are ignored.
  Task<> stop();

private:
  Task<> work();

  ThreadChecker checker_;
  std::map<std::string, Refresh> refreshers_;
  std::vector<RecordChange> waiting_;
  bool is_working_ = false;
  StopSource stopping_;
  TaskGroup group_;
};

}  // namespace agw
