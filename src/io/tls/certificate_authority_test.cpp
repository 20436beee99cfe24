#include "io/tls/certificate_authority.hpp"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "io/tls/tls_trust.hpp"
#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class CertificateAuthorityTest : public ::testing::Test {
protected:
  std::shared_ptr<CertificateAuthority> load(Timestamp at) { return CertificateAuthority::load_or_create(file_, at); }
  std::shared_ptr<CertificateAuthority> load() { return load(now_); }

  std::shared_ptr<const TrustedRoots> roots_of(const CertificateAuthority& authority) {
    const auto file = scratch_.path() / "roots.crt";
    std::ofstream(file) << authority.certificate();
    return TrustedRoots::load(file);
  }

  static void move(TlsSession& from, TlsSession& to) {
    to.put(from.outgoing());
    from.outgoing().clear();
  }

  /// The problem in a handshake between a client that expects `host` and a server of `authority` that shows a
  /// certificate for `shown`.
  std::string problem_with(const std::string& host, const std::string& shown, CertificateAuthority& authority,
                           const TrustedRoots& roots) {
    const auto client = roots.session_to(host);
    const auto server = authority.session_for(shown, now_);
    for (int turn = 0; turn < 6; ++turn) {
      if (!client->advance_handshake()) return handshake_problem(*client);
      move(*client, *server);
      server->advance_handshake();
      move(*server, *client);
    }
    return client->established() && server->established() ? "" : "not established";
  }

  std::string text() const {
    std::ostringstream content;
    content << std::ifstream(file_).rdbuf();
    return content.str();
  }

  testing::ScratchDirectory scratch_;
  std::filesystem::path file_ = scratch_.path() / "authority.pem";
  Timestamp now_ = SystemClock().now();
};

TEST_F(CertificateAuthorityTest, IsMadeOnceAndReadAgain) {
  const auto made = load();
  const auto content = text();
  struct stat status{};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0600u);
  EXPECT_THAT(content, HasSubstr("PRIVATE KEY"));
  EXPECT_EQ(made->certificate().find("PRIVATE"), std::string::npos);
  EXPECT_EQ(load()->certificate(), made->certificate());
  EXPECT_EQ(text(), content);
}

TEST_F(CertificateAuthorityTest, StandsInForHostsByNameAndByAddress) {
  const auto authority = load();
  const auto roots = roots_of(*authority);
  for (const auto* host : {"api.example.com", "127.0.0.1", "::1", "a.b"}) {
    EXPECT_EQ(problem_with(host, host, *authority, *roots), "") << host;
  }
}

TEST_F(CertificateAuthorityTest, AClientRefusesACertificateForAnotherHostOrOfAnotherAuthority) {
  const auto authority = load();
  const auto roots = roots_of(*authority);
  EXPECT_THAT(problem_with("api.example.com", "example.com", *authority, *roots), HasSubstr("not trusted"));
  EXPECT_THAT(problem_with("127.0.0.1", "127.0.0.2", *authority, *roots), HasSubstr("not trusted"));
  file_ = scratch_.path() / "other.pem";
  EXPECT_THAT(problem_with("a.example", "a.example", *load(), *roots), HasSubstr("not trusted"));
}

TEST_F(CertificateAuthorityTest, AHostCannotAddAnotherName) {
  const auto authority = load();
  const auto roots = roots_of(*authority);
  EXPECT_NE(problem_with("bank.example", "a.example,DNS:bank.example", *authority, *roots), "");
}

TEST_F(CertificateAuthorityTest, CertificatesOfHostsAreRenewedAndBounded) {
  const auto authority = load();
  const auto roots = roots_of(*authority);
  for (std::size_t i = 0; i < CertificateAuthority::max_certificates + 2; ++i)
    authority->session_for("h" + std::to_string(i), now_);
  EXPECT_EQ(problem_with("h0", "h0", *authority, *roots), "");
  authority->session_for("old.example", now_ - std::chrono::days(30));
  EXPECT_EQ(problem_with("old.example", "old.example", *authority, *roots), "");
}

TEST_F(CertificateAuthorityTest, IsRenewedBeforeItExpires) {
  const auto old = load(now_ - std::chrono::days(3600));
  EXPECT_LT(old->renewed_at(), now_);
  const auto renewed = load();
  EXPECT_NE(renewed->certificate(), old->certificate());
  EXPECT_GT(renewed->renewed_at(), now_ + std::chrono::days(3000));
}

TEST_F(CertificateAuthorityTest, ReadsTheExpiryWithoutCreatingOne) {
  EXPECT_EQ(CertificateAuthority::end_in(file_), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(file_));
  const auto end = load()->renewed_at() + CertificateAuthority::renewal_time;
  EXPECT_EQ(CertificateAuthority::end_in(file_), end);
}

TEST_F(CertificateAuthorityTest, AFileThatOthersCanReadOrThatIsNoneIsRefused) {
  const auto refusal = [&] {
    try {
      load();
    } catch (const TlsError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  load();
  ::chmod(file_.c_str(), 0644);
  EXPECT_THAT(refusal(), HasSubstr("is open to others: run chmod 600"));
  ::chmod(file_.c_str(), 0600);
  std::ofstream(file_) << "nonsense";
  EXPECT_THAT(refusal(), HasSubstr("holds no key with its certificate: remove it"));
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  ::chmod(file_.c_str(), 0700);
  EXPECT_NE(refusal(), "");
}

TEST_F(CertificateAuthorityTest, RootsWithoutACertificateAreRefused) {
  const auto file = scratch_.path() / "empty.crt";
  std::ofstream(file) << "no certificate";
  EXPECT_THROW(TrustedRoots::load(file), TlsError);
  EXPECT_THROW(TrustedRoots::load(scratch_.path() / "missing.crt"), TlsError);
}

}  // namespace
}  // namespace agw
