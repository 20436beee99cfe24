// Functions that create keys and certificates with OpenSSL come first, then those that write and read PEM, then the
// class that uses both. All certificates of hosts share one key, which exists only in memory.

#include "io/tls/certificate_authority.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/async/assert.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/directory.hpp"
#include "io/tls/openssl_owned.hpp"

namespace agw {

namespace {

using Key = OpensslOwned<EVP_PKEY, EVP_PKEY_free>;
using Certificate = OpensslOwned<X509, X509_free>;
using Context = OpensslOwned<SSL_CTX, SSL_CTX_free>;
using Memory = OpensslOwned<BIO, BIO_free>;
using Names = OpensslOwned<GENERAL_NAMES, GENERAL_NAMES_free>;

constexpr std::size_t max_file_bytes = 16 * 1024;
constexpr std::size_t serial_bytes = 16;
constexpr auto authority_name = "Agent Gateway, for programs in its sandbox";
constexpr auto authority_days = std::chrono::days(3650);
constexpr auto host_days = std::chrono::days(2);
/// Clocks in other namespaces agree, but a person may set this one back.
constexpr auto backdating = std::chrono::hours(24);

void require_made(bool made, const char* what) {
  if (made) return;
  ERR_clear_error();
  throw TlsError(fmt::format("OpenSSL cannot make {}", what));
}

Key new_key() {
  Key key(EVP_EC_gen("P-256"));
  require_made(key != nullptr, "a key");
  return key;
}

void set_times(X509* certificate, Timestamp now, std::chrono::hours lifetime) {
  const auto seconds = [](Timestamp at) {
    return static_cast<time_t>(std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count());
  };
  ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(now - backdating));
  ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(now + lifetime));
}

void set_random_serial(X509* certificate) {
  std::array<unsigned char, serial_bytes> bytes;
  require_made(RAND_bytes(bytes.data(), bytes.size()) == 1, "a serial number");
  bytes[0] &= 0x7f;  // positive
  bytes[0] |= 0x40;  // of full length
  const OpensslOwned<BIGNUM, BN_free> number(BN_bin2bn(bytes.data(), bytes.size(), nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate));
}

void set_name(X509_NAME* name, const std::string& common_name) {
  // The field allows no longer names (RFC 5280, ub-common-name); clients read the alternative names.
  constexpr std::size_t max_common_name = 64;
  const auto* bytes = reinterpret_cast<const unsigned char*>(common_name.data());
  const auto size = static_cast<int>(std::min(common_name.size(), max_common_name));
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, bytes, size, -1, 0);
}

void add_extension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const OpensslOwned<X509_EXTENSION, X509_EXTENSION_free> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  require_made(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "a certificate");
}

Certificate new_certificate(EVP_PKEY* key, const std::string& common_name, Timestamp now, std::chrono::hours lifetime) {
  Certificate made(X509_new());
  require_made(made != nullptr, "a certificate");
  X509_set_version(made.get(), X509_VERSION_3);
  set_random_serial(made.get());
  set_times(made.get(), now, lifetime);
  set_name(X509_get_subject_name(made.get()), common_name);
  X509_set_pubkey(made.get(), key);
  return made;
}

Certificate new_authority(EVP_PKEY* key, Timestamp now) {
  auto made = new_certificate(key, authority_name, now, authority_days);
  X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
  add_extension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign");
  add_extension(made.get(), made.get(), NID_subject_key_identifier, "hash");
  require_made(X509_sign(made.get(), key, EVP_sha256()) > 0, "a certificate");
  return made;
}

/// Built from parts, because a host in the text of an extension could add another name.
void add_host(X509* certificate, const std::string& host) {
  const Names names(GENERAL_NAMES_new());
  require_made(names != nullptr, "a certificate");
  auto* address = a2i_IPADDRESS(host.c_str());
  auto* text = address ? address : ASN1_IA5STRING_new();
  if (!address) ASN1_STRING_set(text, host.data(), static_cast<int>(host.size()));
  auto* name = GENERAL_NAME_new();
  GENERAL_NAME_set0_value(name, address ? GEN_IPADD : GEN_DNS, text);
  sk_GENERAL_NAME_push(names.get(), name);
  require_made(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) == 1, "a certificate");
  ERR_clear_error();
}

std::string text_of(BIO* memory) {
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(memory, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const Memory memory(BIO_new(BIO_s_mem()));
  require_made(PEM_write_bio_X509(memory.get(), certificate) == 1, "a certificate");
  return text_of(memory.get());
}

std::string pem_of(EVP_PKEY* key) {
  const Memory memory(BIO_new(BIO_s_secmem()));
  require_made(PEM_write_bio_PKCS8PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1, "a key");
  return text_of(memory.get());
}

/// Prevents OpenSSL from asking for a passphrase on the terminal.
int refuse_passphrase(char*, int, int, void*) { return -1; }

Timestamp end_of(const X509* certificate) {
  std::tm end{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return {};
  return Timestamp(std::chrono::seconds(::timegm(&end)));
}

/// The content of the file; nullopt if it does not exist.
std::optional<std::string> read_private_file(const std::filesystem::path& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened && errno == ENOENT) return std::nullopt;
  if (!opened) throw TlsError(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  struct stat status{};
  if (::fstat(opened.get(), &status) == 0 && (status.st_mode & 077) != 0)
    throw TlsError(fmt::format("{0} is open to others: run chmod 600 '{0}'", file.string()));
  const auto text = read_opened(opened, max_file_bytes);
  if (!text) throw TlsError(fmt::format("cannot read {}: {}", file.string(), to_string(text.error())));
  return *text;
}

}  // namespace

struct CertificateAuthority::Keys {
  Key key;
  Certificate certificate;
  Key host_key;     ///< for all certificates of hosts
  Context context;  ///< for the sessions
};

struct CertificateAuthority::HostCertificate {
  Certificate certificate;
  Timestamp renewed_at{};
};

namespace {

SSL_CTX* new_server_context() {
  auto* context = SSL_CTX_new(TLS_server_method());
  require_made(context != nullptr, "a TLS context");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  choose_http_1_1(context);
  return context;
}

}  // namespace

/// Returns false if the file does not exist.
bool CertificateAuthority::read(const std::filesystem::path& file, Keys& keys) {
  const auto text = read_private_file(file);
  if (!text) return false;
  const Memory memory(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
  keys.key.reset(PEM_read_bio_PrivateKey(memory.get(), nullptr, refuse_passphrase, nullptr));
  keys.certificate.reset(PEM_read_bio_X509(memory.get(), nullptr, refuse_passphrase, nullptr));
  const bool match =
      keys.key && keys.certificate && X509_check_private_key(keys.certificate.get(), keys.key.get()) == 1;
  ERR_clear_error();
  if (match) return true;
  throw TlsError(
      fmt::format("{} holds no key with its certificate: remove it, and the next program that needs it gets a new one",
                  file.string()));
}

std::optional<Timestamp> CertificateAuthority::end_in(const std::filesystem::path& file) {
  Keys keys;
  if (!read(file, keys)) return std::nullopt;
  return end_of(keys.certificate.get());
}

std::shared_ptr<CertificateAuthority> CertificateAuthority::load_or_create(const std::filesystem::path& file,
                                                                           Timestamp now) {
  AGW_DEBUG_ASSERT(may_block());

  auto keys = std::make_unique<Keys>();
  if (!read(file, *keys) || end_of(keys->certificate.get()) < now + renewal_time) {
    keys->key = new_key();
    keys->certificate = new_authority(keys->key.get(), now);
    replace_file(file, pem_of(keys->key.get()) + pem_of(keys->certificate.get()), 0600);
  }
  keys->host_key = new_key();
  keys->context.reset(new_server_context());
  AGW_ASSERT(keys->key);
  AGW_ASSERT(keys->certificate);
  AGW_ASSERT(keys->host_key);
  return std::shared_ptr<CertificateAuthority>(new CertificateAuthority(std::move(keys)));
}

CertificateAuthority::CertificateAuthority(std::unique_ptr<Keys> keys)
    : keys_(std::move(keys)),
      certificate_(pem_of(keys_->certificate.get())),
      renewed_at_(end_of(keys_->certificate.get()) - renewal_time) {}

CertificateAuthority::~CertificateAuthority() = default;

const CertificateAuthority::HostCertificate& CertificateAuthority::certificate_for(const std::string& host,
                                                                                   Timestamp now) {
  if (const auto found = hosts_.find(host); found != hosts_.end() && now < found->second.renewed_at)
    return found->second;
  if (hosts_.size() >= max_certificates) hosts_.clear();
  auto made = new_certificate(keys_->host_key.get(), host, now, host_days);
  X509_set_issuer_name(made.get(), X509_get_subject_name(keys_->certificate.get()));
  add_extension(made.get(), keys_->certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(made.get(), keys_->certificate.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(made.get(), keys_->certificate.get(), NID_ext_key_usage, "serverAuth");
  add_extension(made.get(), keys_->certificate.get(), NID_authority_key_identifier, "keyid");
  add_host(made.get(), host);
  require_made(X509_sign(made.get(), keys_->key.get(), EVP_sha256()) > 0, "a certificate");
  return hosts_[host] = {.certificate = std::move(made), .renewed_at = now + host_days / 2};
}

std::unique_ptr<TlsSession> CertificateAuthority::session_for(const std::string& host, Timestamp now) {
  const auto& shown = certificate_for(host, now);
  auto session = std::make_unique<TlsSession>(keys_->context.get());
  require_made(SSL_use_certificate(session->handle(), shown.certificate.get()) == 1 &&
                   SSL_use_PrivateKey(session->handle(), keys_->host_key.get()) == 1,
               "a TLS session");
  return session;
}

}  // namespace agw
