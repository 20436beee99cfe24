#include <array>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/digest.hpp"
#include "features/jobs/triggers.hpp"

namespace agw {

bool is_signed(std::string_view body, std::string_view secret, std::optional<std::string_view> signature) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(body.data());
  if (!HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), data, body.size(), digest.data(), &size)) {
    throw std::runtime_error("a webhook's signature cannot be computed");
  }
  const auto wanted = "sha256=" + to_hex({reinterpret_cast<const char*>(digest.data()), size});
  return signature && signature->size() == wanted.size() &&
         CRYPTO_memcmp(signature->data(), wanted.data(), wanted.size()) == 0;
}

}  // namespace agw
