#pragma once

#include <string>
#include <utility>
#include <vector>

namespace agw::postgres {

/// Where a database is, and how to log in there.
struct Address {
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of libpq (PostgreSQL's manual, 34.1.2)
  std::string name;  ///< for messages, without secrets: `database agw at db:5432`
};

/// Reads `postgresql://user@host:port/database?parameters`, or the same as `host=… dbname=…`. Where the server is not
/// reached over a Unix socket or loopback, the connection must be encrypted: then `sslmode` is `verify-full`, and may
/// be set to `verify-ca` or `require`. Throws StartError (usage) whose message shows nothing of a password. Example:
/// src/storage/postgres/address_test.cpp: AddressTest.RequiresEncryptionOffThisHost
Address read_address(const std::string& url);

}  // namespace agw::postgres
