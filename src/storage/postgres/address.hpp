#pragma once

#include <string>
#include <utility>
#include <vector>

namespace agw::postgres {

/// The location of a database and the login.
struct Address {
  std::vector<std::pair<std::string, std::string>> parameters;  ///< named as in libpq (PostgreSQL's manual, 34.1.2)
  std::string name;  ///< for messages, without secrets: `database agw at db:5432`
};

/// Parses `postgresql://user@host:port/database?parameters`, or the same as `host=… dbname=…`. Connections other than
/// by Unix socket or loopback must be encrypted: then `sslmode` defaults to `verify-full`, and may be `verify-ca` or
/// `require`. Throws StartError (usage), whose message contains no part of a password. Example:
/// src/storage/postgres/address_test.cpp: AddressTest.RequiresEncryptionOffThisHost
Address read_address(const std::string& url);

}  // namespace agw::postgres
