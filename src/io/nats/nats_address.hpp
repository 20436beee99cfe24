#pragma once

#include <string>
#include <vector>

namespace agw {

/// The location of NATS servers and the login.
struct NatsAddress {
  std::vector<std::string> servers;  ///< `nats://host:port`, without credentials
  bool is_encrypted = false;
  std::string user;
  std::string password;
  std::string token;  ///< replaces user and password
  std::string name;   ///< for messages, without secrets: `nats:4222`
};

/// Parses `nats://user:password@host:port`, with `tls` for an encrypted connection, a token instead of user and
/// password, and further servers of the same cluster after commas. Connections to other hosts must be encrypted. Throws
/// StartError (usage), whose message begins with `key` and contains no part of a password.
/// Example: src/io/nats/nats_address_test.cpp: NatsAddressTest.RequiresEncryptionOffThisHost
NatsAddress read_nats_address(const std::string& urls, const std::string& key);

}  // namespace agw
