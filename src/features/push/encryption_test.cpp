#include "features/push/encryption.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>

#include "base/digest.hpp"
#include "base/json/json.hpp"
#include "features/push/ec_key.hpp"

namespace agw {
namespace {

std::string bytes(std::string_view text) { return from_base64url(text).value(); }

TEST(Aes128Gcm, IsTheExampleOfRfc8188) {
  const auto sealed =
      encrypt_aes128gcm("I am the walrus", bytes("yqdlZ-tYemfogSmv7Ws5PQ"), bytes("I1BsxtFttlv3u_Oo94xnmw"), "");
  EXPECT_EQ(to_base64url(sealed), "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg");
}

TEST(Aes128Gcm, IsOneRecordAtMost) {
  EXPECT_EQ(encrypt_aes128gcm(std::string(4079, 'x'), "k", random_push_salt(), "").size(), 16u + 4 + 1 + 4096);
  EXPECT_THROW(encrypt_aes128gcm(std::string(4080, 'x'), "k", random_push_salt(), ""), std::length_error);
}

constexpr auto browser_point =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
constexpr auto sender_scalar = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw";
constexpr auto browser_auth = "BTBZMqHH6r4Tts7J_aSIgg";

TEST(PushMessage, IsTheExampleOfRfc8291) {
  const auto sender = EcKey::from_private(bytes(sender_scalar));
  const auto message = encrypt_push("When I grow up, I want to be a watermelon", bytes(browser_point),
                                    bytes(browser_auth), sender, bytes("DGv6ra1nlYgDCS1FRnbzlw"));
  EXPECT_EQ(to_base64url(message),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6"
            "PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN");
}

TEST(PushMessage, HasALength) {
  const auto sender = EcKey::generate();
  const auto seal = [&](std::size_t size) {
    return encrypt_push(std::string(size, 'x'), bytes(browser_point), bytes(browser_auth), sender, random_push_salt());
  };
  EXPECT_EQ(seal(max_push_text).size(), 4096u) << "which is what each push service takes";
  EXPECT_THROW(seal(max_push_text + 1), std::length_error);
}

TEST(PushMessage, RefusesPointsOffTheCurve) {
  auto point = bytes(browser_point);
  point.back() = static_cast<char>(point.back() ^ 1);
  EXPECT_FALSE(is_ec_point(point));
  EXPECT_THROW(encrypt_push("x", point, bytes(browser_auth), EcKey::generate(), random_push_salt()),
               std::invalid_argument);
  for (const std::string& other : {std::string(), std::string(65, '\0'), std::string(1, '\0'), bytes(browser_auth),
                                   bytes(browser_point) + "x", std::string(65, '\4')})
    EXPECT_FALSE(is_ec_point(other));
  EXPECT_TRUE(is_ec_point(bytes(browser_point)));
}

TEST(EcKeyTest, IsStoredAndReadAgain) {
  const auto key = EcKey::generate();
  const auto read = EcKey::from_private(key.private_scalar());
  EXPECT_EQ(read.public_point(), key.public_point());
  EXPECT_EQ(read.private_scalar(), key.private_scalar());
  const auto other = EcKey::generate();
  EXPECT_EQ(key.agree(other.public_point()), other.agree(read.public_point()));
}

TEST(EcKeyTest, RefusesInvalidScalars) {
  for (const std::string& scalar :
       {std::string(), std::string(32, '\0'), std::string(32, '\xff'), std::string(31, 'x'), std::string(33, 'x')})
    EXPECT_THROW(EcKey::from_private(scalar), std::invalid_argument);
}

bool verifies(const EcKey& key, std::string_view text, std::string_view signature) {
  const auto* data = reinterpret_cast<const unsigned char*>(signature.data());
  std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair(ECDSA_SIG_new(), ECDSA_SIG_free);
  ECDSA_SIG_set0(pair.get(), BN_bin2bn(data, 32, nullptr), BN_bin2bn(data + 32, 32, nullptr));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> peer(EVP_PKEY_new(), EVP_PKEY_free);
  std::string name = "P-256";
  auto point = key.public_point();
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, name.data(), name.size()),
                             OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()),
                             OSSL_PARAM_construct_end()};
  std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> making(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr),
                                                                     EVP_PKEY_CTX_free);
  EVP_PKEY* made = nullptr;
  EVP_PKEY_fromdata_init(making.get());
  EVP_PKEY_fromdata(making.get(), &made, EVP_PKEY_PUBLIC_KEY, parameters);
  peer.reset(made);
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, peer.get());
  const bool right = EVP_DigestVerify(context.get(), der, static_cast<std::size_t>(size),
                                      reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
  OPENSSL_free(der);
  return right;
}

TEST(Vapid, IsATokenForTheServiceThatTheKeySigned) {
  const auto key = EcKey::generate();
  const auto now = *parse_iso8601("2026-01-02T03:04:05.678Z");
  const auto header = vapid_authorization(key, "https://push.example.net", "mailto:me@example.net", now);
  const auto comma = header.find(", k=");
  ASSERT_TRUE(header.starts_with("vapid t=") && comma != header.npos) << header;
  EXPECT_EQ(header.substr(comma + 4), to_base64url(key.public_point()));
  const auto token = header.substr(8, comma - 8);
  const auto first = token.find('.');
  const auto last = token.rfind('.');
  EXPECT_EQ(bytes(token.substr(0, first)), R"({"typ":"JWT","alg":"ES256"})");
  EXPECT_EQ(bytes(token.substr(first + 1, last - first - 1)),
            R"({"aud":"https://push.example.net","exp":1767366245,"sub":"mailto:me@example.net"})");
  EXPECT_TRUE(verifies(key, token.substr(0, last), bytes(token.substr(last + 1))));
  EXPECT_FALSE(verifies(EcKey::generate(), token.substr(0, last), bytes(token.substr(last + 1))));
}

}  // namespace
}  // namespace agw
