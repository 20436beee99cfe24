#pragma once

#include <functional>
#include <string>
#include <vector>

namespace agw {

/// A change, by any node, of a record that nodes hold in memory (src/storage/migrations/postgres/0240_cluster.sql).
struct RecordChange {
  std::string topic;  ///< its table
  std::string key;    ///< its id, or the id of the record that it belongs to
};

/// A node whose lease has expired (storage/postgres/lease.hpp).
struct LostNode {
  std::string name;
  std::string id;  ///< in `gateway_owner`
};

/// Receives changes in commit order. Called on the loop.
using OnChanges = std::function<void(std::vector<RecordChange>)>;

}  // namespace agw
