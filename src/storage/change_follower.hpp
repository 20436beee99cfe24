#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "storage/changes.hpp"

namespace agw {

/// Makes the records in memory follow the changes of other nodes: passes the changes of each topic to the code that
/// holds its records, one batch after another. On the loop.
/// Example: src/storage/change_follower_test.cpp: ChangeFollowerTest.HandsEachTopicItsKeysOnce
class ChangeFollower {
public:
  /// Rereads the records with these keys, through `Database::write`: its results come in the order of commits, so what
  /// this node changes itself is never replaced by an older version.
  using Refresh = std::function<Task<>(std::vector<std::string> keys)>;

  explicit ChangeFollower(Loop& loop);

  void follow(std::string topic, Refresh refresh) { refreshers_[std::move(topic)] = std::move(refresh); }
  /// A refresh that fails is tried again with the next changes, and once a second.
  void take(std::vector<RecordChange> changes);
  /// Finishes the refresh that is running; further changes are ignored.
  Task<> stop();

private:
  Task<> work();

  std::map<std::string, Refresh> refreshers_;
  std::vector<RecordChange> waiting_;
  bool is_working_ = false;
  StopSource stopping_;
  TaskGroup group_;
};

}  // namespace agw
