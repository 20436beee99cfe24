#include "features/jobs/webhook_signature.hpp"

#include <array>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace agw {

namespace {

std::string hex(const unsigned char* bytes, std::size_t size) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

}  // namespace

bool is_signed(std::string_view body, std::string_view secret, std::optional<std::string_view> signature) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(body.data());
  if (!HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), data, body.size(), digest.data(), &size)) {
    throw std::runtime_error("a webhook's signature cannot be computed");
  }
  const auto wanted = "sha256=" + hex(digest.data(), size);
  return signature && signature->size() == wanted.size() &&
         CRYPTO_memcmp(signature->data(), wanted.data(), wanted.size()) == 0;
}

}  // namespace agw
