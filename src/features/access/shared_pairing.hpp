#pragma once

#include <string>
#include <string_view>

#include "base/async/task.hpp"
#include "features/access/pairing.hpp"

namespace agw {

class Database;

/// Pairing for all nodes of a cluster, in their database. A code of one node is valid at any other, and all nodes count
/// wrong codes together.
///
/// Requires a server: tests/cluster/test_devices.py shows the use.
class SharedPairing {
public:
  explicit SharedPairing(Database& database) : database_(database) {}

  Task<std::string> new_code(std::chrono::seconds valid_for);
  /// Invalidates the code, and notifies the other nodes that their token may have changed too.
  Task<> token_replaced();
  Task<Pairing::Verdict> judge(std::string code);

private:
  Database& database_;
};

}  // namespace agw
