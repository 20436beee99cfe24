#include "io/proxy/program_secrets.hpp"

#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "testing/scratch_directory.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ProgramSecretsTest : public ::testing::Test {
protected:
  TlsTrust trust() {
    const auto authority = CertificateAuthority::load_or_create(scratch_.path() / "a.pem", SystemClock().now());
    std::ofstream(scratch_.path() / "roots.crt") << authority->certificate();
    return {.authority = authority, .roots = TrustedRoots::load(scratch_.path() / "roots.crt")};
  }

  ProgramSecrets secrets(std::string value) {
    const auto host = *to_host_pattern("*.example.com");
    return {
        {{.variable = "TOKEN", .secret = "GH", .hosts = {host}, .pass_through = {*to_host_pattern("p.example.com")}}},
        trust(),
        [value](const std::string&) { return value; }};
  }

  std::string refusal(const std::string& value) {
    try {
      secrets(value);
    } catch (const ProgramSecretError& error) {
      return error.what();
    }
    return "";
  }

  testing::ScratchDirectory scratch_;
};

TEST_F(ProgramSecretsTest, AStandInLooksLikeItsSecretAndIsAlwaysAnother) {
  const auto classic = new_stand_in("ghp_0123456789abcdefghijklmnopqrstuvwxyz");
  EXPECT_THAT(classic, StartsWith("ghp_"));
  EXPECT_EQ(classic.size(), 40U);
  EXPECT_EQ(new_stand_in("hunter2").size(), 36U) << "a short secret's length stays unknown";
  EXPECT_EQ(new_stand_in("sk-ant-api03-" + std::string(5000, 'x')).size(), 13U + 128U);
  std::set<std::string> all;
  for (int i = 0; i < 1000; ++i) all.insert(new_stand_in("x"));
  EXPECT_EQ(all.size(), 1000U);
}

TEST_F(ProgramSecretsTest, ConcernTheirHostsButNotThoseThatPassThrough) {
  const auto made = secrets("s3cret");
  EXPECT_TRUE(made.decrypts({"api.example.com", 443}));
  EXPECT_FALSE(made.decrypts({"p.example.com", 443}));
  EXPECT_FALSE(made.decrypts({"api.example.com", 80}));
  EXPECT_FALSE(made.decrypts({"example.org", 443}));
  EXPECT_EQ(made.stand_ins().count("TOKEN"), 1U);
  EXPECT_EQ(made.stand_ins().at("TOKEN").find("s3cret"), std::string::npos);
  EXPECT_THAT(made.certificates(), HasSubstr(made.trust().authority->certificate()));
}

TEST_F(ProgramSecretsTest, WhatNoRequestCanCarryIsRefusedByName) {
  EXPECT_THAT(refusal("a\nb"), HasSubstr("the secret GH contains a line end"));
  EXPECT_THAT(refusal(std::string(9000, 'x')), HasSubstr("the secret GH is longer than 8 KiB"));
  EXPECT_EQ(refusal("s3cret"), "");
}

}  // namespace
}  // namespace agw
