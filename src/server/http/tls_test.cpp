#include "server/http/tls.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/error.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A self-signed certificate and its key, as PEM files.
struct Certificate {
  explicit Certificate(const std::filesystem::path& directory, long seconds = 3600) {
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, void (*)(X509*)> made(X509_new(), X509_free);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), std::min(seconds, 0L));
    X509_gmtime_adj(X509_getm_notAfter(made.get()), seconds);
    X509_set_pubkey(made.get(), key.get());
    X509_sign(made.get(), key.get(), EVP_sha256());
    write(directory / "cert.pem", [&](FILE* file) { PEM_write_X509(file, made.get()); });
    write(directory / "key.pem",
          [&](FILE* file) { PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
  }
  template <class Write>
  static void write(const std::filesystem::path& path, Write content) {
    FILE* file = std::fopen(path.c_str(), "w");
    content(file);
    std::fclose(file);
  }
};

std::string refusal(const std::filesystem::path& certificate, const std::filesystem::path& key) {
  try {
    TlsContext({.cert = certificate, .key = key});
  } catch (const StartError& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return error.what();
  }
  return "";
}

struct Tls : ::testing::Test {
  Tls() : directory(scratch.path()), made(directory) {}
  testing::ScratchDirectory scratch;
  std::filesystem::path directory;
  Certificate made;
};

TEST_F(Tls, NamesTheFileThatCannotBeUsed) {
  const auto certificate = directory / "cert.pem";
  const auto key = directory / "key.pem";
  EXPECT_EQ(refusal(certificate, key), "");
  EXPECT_EQ(refusal(directory / "none", key),
            "tls.cert: " + (directory / "none").string() + ": No such file or directory");
  EXPECT_EQ(refusal(key, key), "tls.cert: " + key.string() + ": holds no certificate in PEM form");
  EXPECT_EQ(refusal(certificate, certificate),
            "tls.key: " + certificate.string() + ": holds no private key in PEM form without a passphrase");
  std::filesystem::create_directory(directory / "other");
  const Certificate other(directory / "other");
  EXPECT_EQ(refusal(certificate, directory / "other/key.pem"), "tls.key: " + (directory / "other/key.pem").string() +
                                                                   ": does not belong to the certificate " +
                                                                   certificate.string());
}

TEST_F(Tls, WarnsOfAnExpiredCertificateAndOfAKeyThatOthersCanRead) {
  namespace fs = std::filesystem;
  const auto certificate = directory / "cert.pem";
  const auto key = directory / "key.pem";
  const auto warnings = [&] { return TlsContext({.cert = certificate, .key = key}).warnings(); };
  fs::permissions(key, fs::perms::owner_read);
  EXPECT_THAT(warnings(), IsEmpty());
  fs::permissions(key, fs::perms::others_read, fs::perm_options::add);
  EXPECT_THAT(warnings(), ElementsAre("tls.key: others can read " + key.string() + ": chmod 600 it"));
  fs::remove(key);
  const Certificate expired(directory, -60);
  fs::permissions(key, fs::perms::owner_read);
  EXPECT_THAT(warnings(), ElementsAre("tls.cert: " + certificate.string() + " has expired: browsers will refuse it"));
}

TEST_F(Tls, ShowsOneFingerprint) {
  const TlsContext context({.cert = directory / "cert.pem", .key = directory / "key.pem"});
  EXPECT_EQ(context.fingerprint().size(), 64U);
  EXPECT_EQ(context.fingerprint(),
            TlsContext({.cert = directory / "cert.pem", .key = directory / "key.pem"}).fingerprint());
}

TEST_F(Tls, RefusesWhatIsNoHandshake) {
  const TlsContext context({.cert = directory / "cert.pem", .key = directory / "key.pem"});
  const auto session = context.session();
  EXPECT_TRUE(session->advance_handshake());
  session->put("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_FALSE(session->advance_handshake());
  EXPECT_FALSE(session->established());
}

}  // namespace
}  // namespace agw
