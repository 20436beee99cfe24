#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;
struct x509_st;

namespace agw {

/// SHA-256 of bytes that arrive in pieces.
class Sha256 {
public:
  Sha256();

  void update(std::string_view bytes);
  /// The digest of all bytes so far: 32 bytes. More may follow.
  std::string digest() const;

private:
  using Context = std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)>;

  Context context_;
};

/// The digest: 32 bytes.
std::string sha256(std::string_view bytes);

/// The fingerprint of a certificate: the digest of its DER form as lower-case hex.
std::string fingerprint(const x509_st& certificate);

/// Two lower-case digits for each byte.
std::string to_hex(std::string_view bytes);

}  // namespace agw
