
#include "base/digest.hpp"
#include "features/jobs/triggers.hpp"

namespace agw {

bool is_signed(std::string_view body, std::string_view secret, std::optional<std::string_view> signature) {
  const auto wanted = "sha256=" + to_hex(hmac_sha256(secret, body));
  return signature && are_equal_secrets(*signature, wanted);
}

}  // namespace agw
