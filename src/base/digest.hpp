#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_md_ctx_st;
struct x509_st;

namespace agw {

/// SHA-256 of data that arrives in pieces.
/// Example: src/base/digest_test.cpp: Sha256.IsTheSameForPiecesAndGoesOnAfterADigest
class Sha256 {
public:
  Sha256();

  void update(std::string_view bytes);
  /// The digest of all data so far: 32 bytes. More data may follow.
  std::string digest() const;

private:
  using Context = std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)>;

  Context context_;
};

/// The SHA-256 digest: 32 bytes.
std::string sha256(std::string_view bytes);

/// The HMAC (RFC 2104) with SHA-256: 32 bytes. Throws std::runtime_error.
std::string hmac_sha256(std::string_view key, std::string_view text);

/// Whether two secrets are equal. The time does not depend on where they differ; their lengths are not protected.
/// Example: src/base/digest_test.cpp: Secrets.AreEqualOnlyInLengthAndEveryByte
bool are_equal_secrets(std::string_view one, std::string_view other);

/// The fingerprint of a certificate: the SHA-256 of its DER form as lower-case hex.
std::string fingerprint(const x509_st& certificate);

/// Two lower-case digits for each byte.
/// Example: src/base/digest_test.cpp: Hex.HasTwoLowerCaseDigitsForEachByte
std::string to_hex(std::string_view bytes);

/// An identifier of content: 36 characters, the same for equal bytes on every machine. Not resistant to deliberate
/// collisions.
std::string content_id(std::string_view content);

/// Base64 with the alphabet for URLs (RFC 4648, section 5), without padding.
/// Example: src/base/digest_test.cpp: Base64Url.WritesAndReadsEveryLength
std::string to_base64url(std::string_view bytes);

/// Decodes base64url with or without padding; nullopt if `text` is not valid base64url.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace agw
