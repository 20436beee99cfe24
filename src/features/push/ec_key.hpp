#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace agw {

/// A key pair on the curve P-256. Throws std::runtime_error if OpenSSL fails.
class EcKey {
public:
  static EcKey generate();
  /// From `private_scalar`. Throws std::invalid_argument if it is not one.
  static EcKey from_private(std::string_view scalar);

  /// 65 bytes, uncompressed.
  std::string public_point() const;
  /// 32 bytes, secret.
  std::string private_scalar() const;

  /// The secret shared with the owner of `point` (ECDH): 32 bytes. Throws std::invalid_argument if it is not a point of
  /// the curve.
  std::string agree(std::string_view point) const;
  /// The signature of `text` as in JWS (ES256): 64 bytes.
  std::string sign(std::string_view text) const;

private:
  using Handle = std::shared_ptr<evp_pkey_st>;
  explicit EcKey(Handle key) : key_(std::move(key)) {}

  Handle key_;
};

/// Whether `bytes` is an uncompressed point of P-256.
bool is_ec_point(std::string_view bytes);

/// Bytes as an argument of OpenSSL.
inline const unsigned char* data_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
/// A buffer for OpenSSL.
inline unsigned char* data_of(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

}  // namespace agw
