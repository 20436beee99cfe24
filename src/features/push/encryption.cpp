#include "features/push/encryption.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/json/json.hpp"
#include "features/push/ec_key.hpp"

namespace agw {

namespace {

constexpr std::size_t record_size = 4096;
constexpr std::size_t tag_size = 16;
constexpr std::size_t secret_size = 32;
constexpr std::size_t key_size = 16;
constexpr std::size_t nonce_size = 12;
constexpr std::size_t header_size = push_salt_size + 4 + 1 + 65;    // salt, record size, the size of the key, the key
static_assert(header_size + max_push_text + 1 + tag_size == 4096);  // RFC 8291, section 4
constexpr char last_record = 2;
constexpr std::chrono::hours token_validity{12};

/// HKDF (RFC 5869) for at most 32 bytes, which is one block.
std::string hkdf(std::string_view salt, std::string_view key_material, std::string info, std::size_t size) {
  AGW_ASSERT(size <= secret_size);
  info += '\x01';
  return hmac_sha256(hmac_sha256(salt, key_material), info).substr(0, size);
}

/// The text with its terminating zero, which RFC 8188 includes in the input of the key derivation.
template <std::size_t size>
std::string with_zero(const char (&text)[size]) {
  return {text, size};
}

std::string seal(std::string_view key, std::string_view nonce, std::string_view text) {
  AGW_ASSERT(key.size() == key_size);
  AGW_ASSERT(nonce.size() == nonce_size);
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                EVP_CIPHER_CTX_free);
  std::string sealed(text.size() + tag_size, '\0');
  int size = 0;
  int rest = 0;
  const bool works =
      context && EVP_EncryptInit_ex(context.get(), EVP_aes_128_gcm(), nullptr, data_of(key), data_of(nonce)) == 1 &&
      EVP_EncryptUpdate(context.get(), data_of(sealed), &size, data_of(text), static_cast<int>(text.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), data_of(sealed) + size, &rest) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, tag_size, data_of(sealed) + text.size()) == 1;
  if (!works) throw std::runtime_error("OpenSSL cannot encrypt");
  AGW_ASSERT(static_cast<std::size_t>(size + rest) == text.size());
  return sealed;
}

std::string header_of(std::string_view salt, std::string_view key_id) {
  AGW_ASSERT(salt.size() == push_salt_size);
  AGW_ASSERT(key_id.size() <= 0xff);
  std::string header(salt);
  for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(record_size >> shift & 0xff);
  header += static_cast<char>(key_id.size());
  return header.append(key_id);
}

}  // namespace

std::string random_push_salt() {
  std::string salt(push_salt_size, '\0');
  if (RAND_bytes(data_of(salt), static_cast<int>(salt.size())) != 1)
    throw std::runtime_error("OpenSSL cannot generate random bytes");
  return salt;
}

std::string encrypt_aes128gcm(std::string_view text, std::string_view key_material, std::string_view salt,
                              std::string_view key_id) {
  if (text.size() + 1 + tag_size > record_size) throw std::length_error("more than one record");
  const auto key = hkdf(salt, key_material, with_zero("Content-Encoding: aes128gcm"), key_size);
  const auto nonce = hkdf(salt, key_material, with_zero("Content-Encoding: nonce"), nonce_size);
  return header_of(salt, key_id) + seal(key, nonce, std::string(text) + last_record);
}

std::string encrypt_push(std::string_view text, std::string_view point, std::string_view auth, const EcKey& sender,
                         std::string_view salt) {
  if (text.size() > max_push_text) throw std::length_error("too long for a push message");
  const auto own_point = sender.public_point();
  const auto info = with_zero("WebPush: info").append(point).append(own_point);
  return encrypt_aes128gcm(text, hkdf(auth, sender.agree(point), info, secret_size), salt, own_point);
}

std::string vapid_authorization(const EcKey& key, std::string_view origin, std::string_view contact, Timestamp now) {
  const auto expires_at = std::chrono::duration_cast<std::chrono::seconds>((now + token_validity).time_since_epoch());
  const json::object claims{{"aud", origin}, {"exp", expires_at.count()}, {"sub", contact}};
  const auto token = to_base64url(R"({"typ":"JWT","alg":"ES256"})") + '.' + to_base64url(to_json(claims));
  return "vapid t=" + token + '.' + to_base64url(key.sign(token)) + ", k=" + to_base64url(key.public_point());
}

}  // namespace agw
