#pragma once

#include <string>
#include <vector>

namespace agw {

/// Where servers of NATS are, and how to log in there.
struct NatsAddress {
  std::vector<std::string> servers;  ///< `nats://host:port`, without credentials
  bool is_encrypted = false;
  std::string user;
  std::string password;
  std::string token;  ///< in the place of user and password
  std::string name;   ///< for messages, without secrets: `nats:4222`
};

/// Reads `nats://user:password@host:port`, with `tls` for an encrypted connection, a token in the place of user and
/// password, and further servers of the same cluster after commas. A server on another host must be reached encrypted.
/// Throws StartError (usage), whose message begins with `key` and shows nothing of a password.
/// Example: src/io/nats/nats_address_test.cpp: NatsAddressTest.RequiresEncryptionOffThisHost
NatsAddress read_nats_address(const std::string& urls, const std::string& key);

}  // namespace agw
