#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// What a server wants of a bearer token (RFC 6750, RFC 9728). Untrusted; empty where it does not say.
struct BearerChallenge {
  std::string resource_metadata;  ///< where it describes itself
  std::string scope;              ///< separated by spaces
  std::string error;              ///< `insufficient_scope`
};

/// The challenge for bearer tokens in a `WWW-Authenticate` header, which may hold others too.
std::optional<BearerChallenge> bearer_challenge(std::string_view header);

}  // namespace agw
