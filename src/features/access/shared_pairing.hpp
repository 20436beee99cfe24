#pragma once

#include <string>
#include <string_view>

#include "base/async/task.hpp"
#include "features/access/pairing.hpp"

namespace agw {

class Database;

/// The same as Pairing for all nodes of a cluster, in their database: a code of one node is taken at another, and wrong
/// ones count at all.
///
/// It needs a server: tests/cluster/test_devices.py shows the use.
class SharedPairing {
public:
  explicit SharedPairing(Database& database) : database_(database) {}

  Task<std::string> new_code(std::chrono::seconds valid_for);
  /// Voids the code, and has the other nodes look whether their token is another one, too.
  Task<> token_replaced();
  Task<Pairing::Verdict> judge(std::string code);

private:
  Database& database_;
};

}  // namespace agw
