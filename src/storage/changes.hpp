#pragma once

#include <functional>
#include <string>
#include <vector>

namespace agw {

/// A record that nodes hold in memory was changed, by any of them (src/storage/migrations/postgres/0240_cluster.sql).
struct RecordChange {
  std::string topic;  ///< its table
  std::string key;    ///< its id, or that of what it belongs to
};

/// A node whose lease has expired (storage/postgres/lease.hpp).
struct LostNode {
  std::string name;
  std::string id;  ///< in `gateway_owner`
};

/// Takes changes in the order of their commits. On the loop.
using OnChanges = std::function<void(std::vector<RecordChange>)>;

}  // namespace agw
