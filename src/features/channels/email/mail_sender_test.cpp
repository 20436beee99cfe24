#include "features/channels/email/mail_sender.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

constexpr std::string_view trusted = "mx.example.com";

std::string sender_of(const std::string& fields) {
  const auto sender = authentic_sender(read_mail_head(fields + "\r\n"), trusted);
  return sender ? sender->address : "nobody";
}

std::string with_result(const std::string& result, const std::string& from = "Ann <ann@example.org>") {
  return "Authentication-Results: mx.example.com; " + result + "\r\nFrom: " + from + "\r\n";
}

TEST(Sender, IsAuthenticIfTheTrustedServerSaysSo) {
  EXPECT_EQ(sender_of(with_result("dkim=pass header.d=example.org")), "ann@example.org");
  EXPECT_EQ(sender_of(with_result("dkim=pass (2048-bit key) header.i=@example.org header.s=k")), "ann@example.org");
  EXPECT_EQ(sender_of(with_result("spf=pass smtp.mailfrom=bounce@example.org")), "ann@example.org");
  EXPECT_EQ(sender_of(with_result("dmarc=pass (p=NONE) header.from=example.org")), "ann@example.org");
  EXPECT_EQ(sender_of(with_result("spf=fail smtp.mailfrom=x.net;\r\n dkim = pass header.d = example.org")),
            "ann@example.org");
  EXPECT_EQ(sender_of("authentication-results: MX.example.com 1; dkim/1=pass header.d=EXAMPLE.ORG\r\nFrom: "
                      "ann@mail.example.org\r\n"),
            "ann@mail.example.org");
}

TEST(Sender, IsUnknownWithoutAResultOfTheTrustedServer) {
  EXPECT_EQ(sender_of("From: ann@example.org\r\n"), "nobody");
  EXPECT_EQ(
      sender_of("Authentication-Results: mx.evil.net; dkim=pass header.d=example.org\r\nFrom: ann@example.org\r\n"),
      "nobody");
  EXPECT_EQ(sender_of("Authentication-Results: mx.example.com.evil.net; dkim=pass header.d=example.org\r\n"
                      "From: ann@example.org\r\n"),
            "nobody");
  EXPECT_EQ(sender_of(with_result("none")), "nobody");
  EXPECT_EQ(sender_of(with_result("")), "nobody");
}

TEST(Sender, IsUnknownIfNothingPassedForTheDomain) {
  for (const auto* result :
       {"dkim=fail header.d=example.org", "dkim=pass header.d=evil.net", "dkim=pass",
        "dkim=passed header.d=example.org", "spf=pass smtp.helo=example.org",
        "spf=softfail smtp.mailfrom=ann@example.org", "dkim=pass header.d=org", "dkim=pass header.d=mail.example.org",
        "dkim=pass header.d=notexample.org", "dkim=pass header.s=example.org", "auth=pass smtp.auth=ann@example.org",
        "arc=pass header.d=example.org", "dkim=pass header.d=example.org header.i=@evil.net",
        "reason=pass header.d=example.org"}) {
    EXPECT_EQ(sender_of(with_result(result)), "nobody") << result;
  }
}

TEST(Sender, CannotBeForgedInsideAResult) {
  for (const auto* result : {"spf=fail (dkim=pass header.d=example.org) smtp.mailfrom=evil.net",
                             "spf=fail smtp.mailfrom=\"x; dkim=pass header.d=example.org\"@evil.net",
                             "spf=fail (a; dkim=pass header.d=example.org;) smtp.mailfrom=evil.net",
                             "spf=fail reason=\"; dkim=pass header.d=example.org\"",
                             "spf=pass smtp.mailfrom=\"ann@example.org\"@evil.net"}) {
    EXPECT_EQ(sender_of(with_result(result)), "nobody") << result;
  }
}

TEST(Sender, IsReadFromTheTopmostResultOnly) {
  EXPECT_EQ(sender_of("Authentication-Results: mx.example.com; dkim=fail header.d=example.org\r\n" +
                      with_result("dkim=pass header.d=example.org")),
            "nobody");
  EXPECT_EQ(sender_of("Authentication-Results: other.net; dkim=fail header.d=example.org\r\n" +
                      with_result("dkim=pass header.d=example.org")),
            "ann@example.org");
}

TEST(Sender, IsUnknownUnlessThereIsExactlyOneFrom) {
  EXPECT_EQ(sender_of(with_result("dkim=pass header.d=example.org") + "From: eve@example.net\r\n"), "nobody");
  EXPECT_EQ(sender_of(with_result("dkim=pass header.d=example.org", "ann@example.org, eve@example.net")), "nobody");
  EXPECT_EQ(sender_of(with_result("dkim=pass header.d=example.org", "people: ann@example.org;")), "nobody");
  EXPECT_EQ(sender_of(with_result("dkim=pass header.d=example.org", "ann@example.org <eve@example.net>")), "nobody");
  EXPECT_EQ(sender_of("Authentication-Results: mx.example.com; dkim=pass header.d=example.org\r\n"), "nobody");
}

TEST(AutomaticMails, AreNeverAnswered) {
  const auto is_automatic_with = [](const std::string& field) {
    return is_automatic(read_mail_head("From: ann@example.org\r\n" + field + "\r\n\r\n"));
  };
  for (const auto* field : {"Auto-Submitted: auto-replied", "Auto-Submitted: auto-generated (vacation)",
                            "Precedence: bulk", "Precedence: LIST", "List-Id: <l.example.org>", "Return-Path: <>",
                            "List-Unsubscribe: <mailto:x@example.org>"}) {
    EXPECT_TRUE(is_automatic_with(field)) << field;
  }
  EXPECT_TRUE(is_automatic(read_mail_head("From: Mail <MAILER-DAEMON@example.org>\r\n\r\n")));
  EXPECT_FALSE(is_automatic_with("Auto-Submitted: no"));
  EXPECT_FALSE(is_automatic_with("Return-Path: <ann@example.org>"));
  EXPECT_FALSE(is_automatic_with("Precedence: first-class"));
}

}  // namespace
}  // namespace agw
