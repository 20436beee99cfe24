#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// A server's requirements for bearer tokens (RFC 6750, RFC 9728). Untrusted; members that the server omits are empty.
struct BearerChallenge {
  std::string resource_metadata;  ///< the URL of its metadata
  std::string scope;              ///< separated by spaces
  std::string error;              ///< `insufficient_scope`
};

/// Parses the challenge for bearer tokens in a `WWW-Authenticate` header, which may also contain other challenges.
std::optional<BearerChallenge> bearer_challenge(std::string_view header);

}  // namespace agw
