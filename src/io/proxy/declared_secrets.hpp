#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/described.hpp"
#include "io/proxy/proxy_request.hpp"

namespace agw {

/// The servers that a person names: `api.example.com`, `*.example.com` (all names beneath it), `10.0.0.1:8443`. Without
/// a port, 443.
struct HostPattern {
  HostPort named;  ///< its host may begin with `*.`

  bool matches(const HostPort& target) const;
  bool operator==(const HostPattern&) const = default;
};

/// nullopt if it is not valid, as `*` alone and `*.com` are not.
std::optional<HostPattern> to_host_pattern(std::string_view text);

/// A secret that a program uses but never holds: a member of `secrets` in its definition.
struct DeclaredSecret {
  std::string variable;                     ///< of the program's environment, which holds a stand-in
  std::string secret;                       ///< its name
  std::vector<HostPattern> hosts;           ///< the only ones that it is sent to
  std::vector<HostPattern> pass_through{};  ///< not these, although `hosts` has them: they are not even decrypted

  bool operator==(const DeclaredSecret&) const = default;
};

/// Those of a valid definition; empty if it has none.
/// Example: src/io/proxy/declared_secrets_test.cpp: DeclaredSecrets.AreReadFromADefinition
std::vector<DeclaredSecret> declared_secrets(const json::object& definition);

/// What is wrong with `secrets` in a definition, in addition to what its schema says. Paths begin with `definition`.
Problems declared_secret_problems(const json::object& definition);

/// The variables that name a file of certificate authorities to programs.
std::vector<std::string> certificate_variables();

}  // namespace agw
