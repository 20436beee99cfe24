// For SHA256_Init, which OpenSSL has deprecated in favour of EVP_Digest.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/digest.hpp"

#include <iterator>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <boost/algorithm/hex.hpp>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr std::size_t digest_size = 32;

unsigned char* data_of(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
}

void Sha256::update(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }

std::string Sha256::digest() const {
  const Context copy(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_MD_CTX_copy_ex(copy.get(), context_.get());
  std::string digest(digest_size, '\0');
  EVP_DigestFinal_ex(copy.get(), data_of(digest), nullptr);
  return digest;
}

std::string sha256(std::string_view bytes) {
  std::string digest(digest_size, '\0');
  // EVP_Digest looks the algorithm up for each call: 44 instead of 7 µs for 4 KiB after a pause.
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(data_of(digest), &context);
  return digest;
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::string digest(digest_size, '\0');
  unsigned int size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(), data_of(digest), &size))
    throw std::runtime_error("OpenSSL cannot compute an HMAC");
  AGW_ASSERT(size == digest_size);
  return digest;
}

bool are_equal_secrets(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

std::string fingerprint(const X509& certificate) {
  std::string digest(digest_size, '\0');
  X509_digest(&certificate, EVP_sha256(), data_of(digest), nullptr);
  return to_hex(digest);
}

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  boost::algorithm::hex_lower(bytes.begin(), bytes.end(), std::back_inserter(text));
  return text;
}

std::string content_id(std::string_view content) {
  const boost::uuids::name_generator_sha1 generate(boost::uuids::ns::oid());
  return boost::uuids::to_string(generate(content.data(), content.size()));
}

}  // namespace agw
