#include "io/tls/trusted_roots.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/async/assert.hpp"
#include "config/environment.hpp"
#include "io/tls/certificate_authority.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

/// The files of Debian and Alpine, Fedora, openSUSE, and others.
constexpr std::array<const char*, 5> usual_files{
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

constexpr std::uintmax_t max_roots_bytes = std::uintmax_t{8} * 1024 * 1024;
constexpr std::array<unsigned char, 9> http_1_1{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

}  // namespace

std::optional<fs::path> system_roots_file() {
  std::error_code error;
  for (const auto* file : usual_files) {
    if (fs::is_regular_file(file, error)) return fs::canonical(file, error);
  }
  return std::nullopt;
}

fs::path TrustedRoots::find_file() {
  AGW_DEBUG_ASSERT(may_block());

  if (const auto named = process_environment()("SSL_CERT_FILE"); named && !named->empty()) return *named;
  if (auto file = system_roots_file()) return *std::move(file);
  throw TlsError(
      "this host has no file of certificate authorities: install them (Debian: apt install ca-certificates), or name "
      "the file in SSL_CERT_FILE of the gateway's environment");
}

std::shared_ptr<const TrustedRoots> TrustedRoots::load(fs::path file) {
  AGW_DEBUG_ASSERT(may_block());

  std::error_code error;
  if (fs::file_size(file, error) > max_roots_bytes || error)
    throw TlsError(fmt::format("{} cannot be used: {}", file.string(), error ? error.message() : "it is too large"));
  std::ostringstream content;
  content << std::ifstream(file).rdbuf();
  return std::shared_ptr<const TrustedRoots>(new TrustedRoots(std::move(file), std::move(content).str()));
}

TrustedRoots::TrustedRoots(fs::path file, std::string certificates)
    : file_(std::move(file)),
      certificates_(std::move(certificates)),
      context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
  auto* context = context_.get();
  if (!context) throw TlsError("OpenSSL cannot be used");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context, http_1_1.data(), http_1_1.size());
  // A person may trust an intermediate authority, or one server, alone. libcurl allows the same.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
  if (SSL_CTX_load_verify_file(context, file_.c_str()) == 1) return;
  ERR_clear_error();
  throw TlsError(fmt::format("{} holds no certificate in PEM form", file_.string()));
}

std::unique_ptr<TlsSession> TrustedRoots::session_to(const std::string& host) const {
  auto session = std::make_unique<TlsSession>(context_.get(), TlsRole::client);
  auto* handle = session->handle();
  const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host.c_str()) == 1;
  ERR_clear_error();
  if (is_address) return session;
  SSL_set_hostflags(handle, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (SSL_set1_host(handle, host.c_str()) != 1 || SSL_set_tlsext_host_name(handle, host.c_str()) != 1)
    throw TlsError(fmt::format("{} is no name of a host", host));
  return session;
}

void TrustedRoots::use_in(SSL_CTX* context) const {
  AGW_ASSERT(context);
  SSL_CTX_set1_cert_store(context, SSL_CTX_get_cert_store(context_.get()));
}

std::shared_ptr<const TrustedRoots> TrustedRootsFile::load() {
  AGW_DEBUG_ASSERT(may_block());

  const std::lock_guard lock(mutex_);
  auto file = TrustedRoots::find_file();
  std::error_code error;
  const auto written_at = fs::last_write_time(file, error);
  if (!loaded_ || loaded_->file() != file || written_at != written_at_) loaded_ = TrustedRoots::load(std::move(file));
  written_at_ = written_at;
  return loaded_;
}

std::string handshake_problem(TlsSession& session) {
  const auto result = SSL_get_verify_result(session.handle());
  if (result != X509_V_OK)
    return fmt::format("its certificate is not trusted ({})", X509_verify_cert_error_string(result));
  return "it does not answer with TLS 1.2 or 1.3";
}

}  // namespace agw
