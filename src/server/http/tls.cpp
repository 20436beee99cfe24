#include "server/http/tls.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/error.hpp"
#include "base/sha256.hpp"

namespace agw {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t piece_size = 16 * 1024;

/// A file, and the setting that names it.
struct Pem {
  std::string_view key;
  const fs::path& file;
  const std::string& at;  ///< `<file>:<line>` of the setting; may be empty
};

StartError cannot_use(const Pem& pem, std::string_view why) {
  ERR_clear_error();
  const auto place = pem.at.empty() ? std::string() : pem.at + ": ";
  return StartError(ExitStatus::usage, fmt::format("{}{}: {}: {}", place, pem.key, pem.file.string(), why));
}

void require_readable(const Pem& pem) {
  std::error_code error;
  if (fs::is_directory(pem.file, error)) throw cannot_use(pem, "is a directory");
  errno = 0;
  const std::ifstream stream(pem.file);
  if (!stream) throw cannot_use(pem, std::strerror(errno ? errno : EIO));
}

/// OpenSSL would ask for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

void use_certificate(SSL_CTX* context, const Pem& certificate) {
  require_readable(certificate);
  if (SSL_CTX_use_certificate_chain_file(context, certificate.file.c_str()) == 1) return;
  throw cannot_use(certificate, "holds no certificate in PEM form");
}

void use_key(SSL_CTX* context, const Pem& key, const fs::path& certificate) {
  require_readable(key);
  if (SSL_CTX_use_PrivateKey_file(context, key.file.c_str(), SSL_FILETYPE_PEM) != 1) {
    const bool mismatch = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH ||
                          ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_TYPE_MISMATCH;
    if (!mismatch) throw cannot_use(key, "holds no private key in PEM form without a passphrase");
  } else if (SSL_CTX_check_private_key(context) == 1) {
    return;
  }
  throw cannot_use(key, fmt::format("does not belong to the certificate {}", certificate.string()));
}

std::vector<std::string> what_is_odd(SSL_CTX* context, const fs::path& certificate, const fs::path& key) {
  std::vector<std::string> warnings;
  struct stat status{};
  if (::stat(key.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    warnings.push_back(fmt::format("tls.key: others can read {}: chmod 600 it", key.string()));
  }
  const auto* shown = SSL_CTX_get0_certificate(context);
  if (X509_cmp_current_time(X509_get0_notAfter(shown)) < 0) {
    warnings.push_back(fmt::format("tls.cert: {} has expired: browsers will refuse it", certificate.string()));
  }
  return warnings;
}

/// Browsers offer HTTP/2 too, which is not supported.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* length, const unsigned char* offered,
                    unsigned int offered_length, void*) {
  static constexpr std::array<unsigned char, 9> ours{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  const auto result = SSL_select_next_proto(&found, length, ours.data(), ours.size(), offered, offered_length);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

TlsSession::TlsSession(SSL_CTX* context) : session_(SSL_new(context), SSL_free) {
  if (!session_) throw std::bad_alloc();
  SSL_set_bio(session_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_accept_state(session_.get());
}

TlsSession::~TlsSession() = default;

void TlsSession::put(std::string_view bytes) {
  BIO_write(SSL_get_rbio(session_.get()), bytes.data(), static_cast<int>(bytes.size()));
}

void TlsSession::collect() {
  auto* bio = SSL_get_wbio(session_.get());
  const auto waiting = BIO_ctrl_pending(bio);
  if (waiting == 0) return;
  const auto before = outgoing_.size();
  outgoing_.resize(before + waiting);
  BIO_read(bio, outgoing_.data() + before, static_cast<int>(waiting));
}

bool TlsSession::advance_handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  collect();
  return result == 1 || SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_READ;
}

bool TlsSession::established() const { return SSL_is_init_finished(session_.get()) == 1; }

bool TlsSession::read(std::string& in) {
  for (;;) {
    const auto before = in.size();
    in.resize(before + piece_size);
    std::size_t count = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(session_.get(), in.data() + before, piece_size, &count);
    in.resize(before + count);
    if (result == 1) continue;
    collect();
    const bool goes_on = SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_READ;
    return goes_on || !in.empty();
  }
}

bool TlsSession::write(std::string_view bytes) {
  if (bytes.empty()) return true;
  std::size_t count = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &count);
  collect();
  return result == 1 && count == bytes.size();
}

void TlsSession::end() {
  ERR_clear_error();
  if (established()) SSL_shutdown(session_.get());
  collect();
}

TlsContext::TlsContext(const Settings::Tls& files) : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
  auto* context = context_.get();
  if (!context) throw StartError(ExitStatus::failure, "OpenSSL cannot be used");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  use_certificate(context, {"tls.cert", files.cert, files.cert_at});
  use_key(context, {"tls.key", files.key, files.key_at}, files.cert);
  warnings_ = what_is_odd(context, files.cert, files.key);
}

std::string TlsContext::fingerprint() const { return agw::fingerprint(*SSL_CTX_get0_certificate(context_.get())); }

std::unique_ptr<TlsContext> configured_tls(const Settings::Tls& settings) {
  return settings.cert.empty() ? nullptr : std::make_unique<TlsContext>(settings);
}

}  // namespace agw
