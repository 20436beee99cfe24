#include "io/tls/tls_session.hpp"

#include <array>
#include <limits>
#include <new>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr std::size_t piece_size = 16 * 1024;

/// Browsers also offer HTTP/2, which is not supported.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* length, const unsigned char* offered,
                    unsigned int offered_length, void*) {
  static constexpr std::array<unsigned char, 9> ours{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  const auto result = SSL_select_next_proto(&found, length, ours.data(), ours.size(), offered, offered_length);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

TlsSession::TlsSession(SSL_CTX* context, TlsRole role) : session_(SSL_new(context), SSL_free) {
  AGW_ASSERT(context);
  if (!session_) throw std::bad_alloc();
  SSL_set_bio(session_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  if (role == TlsRole::server)
    SSL_set_accept_state(session_.get());
  else
    SSL_set_connect_state(session_.get());
}

TlsSession::~TlsSession() = default;

void TlsSession::put(std::string_view bytes) {
  AGW_ASSERT(bytes.size() <= std::numeric_limits<int>::max());
  BIO_write(SSL_get_rbio(session_.get()), bytes.data(), static_cast<int>(bytes.size()));
}

void TlsSession::collect() {
  auto* bio = SSL_get_wbio(session_.get());
  const auto waiting = BIO_ctrl_pending(bio);
  if (waiting == 0) return;
  const auto before = outgoing_.size();
  outgoing_.resize(before + waiting);
  const auto taken = BIO_read(bio, outgoing_.data() + before, static_cast<int>(waiting));
  AGW_ASSERT(taken == static_cast<int>(waiting));
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
    AGW_ASSERT(count <= piece_size);
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

bool TlsSession::ended_by_peer() const { return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }

void choose_http_1_1(SSL_CTX* context) { SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr); }

}  // namespace agw
