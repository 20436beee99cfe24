#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/described.hpp"
#include "io/proxy/proxy_request.hpp"

namespace agw {

/// Servers named by a person: `api.example.com`, `*.example.com` (all names beneath it), `10.0.0.1:8443`. The default
/// port is 443.
struct HostPattern {
  HostPort named;  ///< the host may begin with `*.`

  bool matches(const HostPort& target) const;
  bool operator==(const HostPattern&) const = default;
};

/// Nullopt if the text is not valid; `*` alone and `*.com` are not.
std::optional<HostPattern> to_host_pattern(std::string_view text);

/// A secret that a program uses but never has: a member of `secrets` in its definition.
struct DeclaredSecret {
  std::string variable;                     ///< the environment variable of the program, which contains a stand-in
  std::string secret;                       ///< the name of the secret
  std::vector<HostPattern> hosts;           ///< the only hosts that it is sent to
  std::vector<HostPattern> pass_through{};  ///< exceptions from `hosts`, which are not even decrypted

  bool operator==(const DeclaredSecret&) const = default;
};

/// The secrets in a valid definition; empty if it has none.
/// Example: src/io/proxy/declared_secrets_test.cpp: DeclaredSecrets.AreReadFromADefinition
std::vector<DeclaredSecret> declared_secrets(const json::object& definition);

/// The problems with `secrets` in a definition, apart from violations of its schema. Paths begin with `definition`.
Problems declared_secret_problems(const json::object& definition);

/// The environment variables that name a file of certificate authorities.
std::vector<std::string> certificate_variables();

}  // namespace agw
