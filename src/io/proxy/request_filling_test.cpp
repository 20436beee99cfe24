#include "io/proxy/request_filling.hpp"

#include <gmock/gmock.h>

#include "io/http/request_parser.hpp"

namespace agw {
namespace {

const std::vector<Filling> fillings{{.stand_in = "STANDIN1", .value = "s3cret"},
                                    {.stand_in = "STANDIN2", .value = "a/b c&d"}};

bool is_fillable(std::string_view raw, const HostPort& target) {
  RequestParser parser;
  parser.put(raw);
  EXPECT_TRUE(parser.head_done() && !parser.refusal()) << raw;
  return may_be_filled(parser.head(), target);
}

TEST(RequestFilling, ReplacesStandInsInTheHead) {
  EXPECT_EQ(filled("GET /a?key=STANDIN1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer STANDIN1\r\nX-Two: "
                   "STANDIN2STANDIN1\r\n\r\n",
                   fillings),
            "GET /a?key=s3cret HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer s3cret\r\nX-Two: a/b c&ds3cret\r\n\r\n");
}

TEST(RequestFilling, EncodesASecretInTheTarget) {
  EXPECT_EQ(filled("GET /botSTANDIN2/x HTTP/1.1\r\n\r\n", fillings), "GET /bota%2Fb%20c%26d/x HTTP/1.1\r\n\r\n");
}

TEST(RequestFilling, ReplacesStandInsInBasicCredentials) {
  // user:STANDIN1, STANDIN1:x, user:s3cret, s3cret:x
  EXPECT_EQ(filled("GET / HTTP/1.1\r\nauthorization: basic dXNlcjpTVEFORElOMQ==\r\n\r\n", fillings),
            "GET / HTTP/1.1\r\nauthorization: Basic dXNlcjpzM2NyZXQ=\r\n\r\n");
  EXPECT_EQ(filled("GET / HTTP/1.1\r\nAuthorization: Basic U1RBTkRJTjE6eA==\r\n\r\n", fillings),
            "GET / HTTP/1.1\r\nAuthorization: Basic czNjcmV0Ong=\r\n\r\n");
  EXPECT_EQ(filled("GET / HTTP/1.1\r\nAuthorization: Basic !!!\r\n\r\n", fillings),
            "GET / HTTP/1.1\r\nAuthorization: Basic !!!\r\n\r\n");
}

TEST(RequestFilling, LeavesHostAndNamesOfFieldsAlone) {
  for (const auto* raw : {"GET / HTTP/1.1\r\nHost: STANDIN1\r\n\r\n", "GET / HTTP/1.1\r\nSTANDIN1: x\r\n\r\n",
                          "STANDIN1 / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nX: STANDIN\r\n\r\n"}) {
    EXPECT_EQ(filled(raw, fillings), raw);
  }
}

TEST(RequestFilling, FindsWhatItWouldReplace) {
  EXPECT_TRUE(holds_stand_in("GET /STANDIN1 HTTP/1.1\r\n\r\n", "STANDIN1"));
  EXPECT_TRUE(holds_stand_in("GET / HTTP/1.1\r\nX: aSTANDIN1\r\n\r\n", "STANDIN1"));
  EXPECT_TRUE(holds_stand_in("GET / HTTP/1.1\r\nAuthorization: Basic U1RBTkRJTjE6eA==\r\n\r\n", "STANDIN1"));
  EXPECT_FALSE(holds_stand_in("GET / HTTP/1.1\r\nX: U1RBTkRJTjE6eA==\r\n\r\n", "STANDIN1"));
  EXPECT_FALSE(holds_stand_in("GET / HTTP/1.1\r\nSTANDIN1: x\r\n\r\n", "STANDIN1"));
}

TEST(RequestFilling, OnlyRequestsForTheConnectionsHostAreFilled) {
  const HostPort target{"api.example.com", 443};
  EXPECT_TRUE(is_fillable("GET / HTTP/1.1\r\nHost: API.example.com\r\n\r\n", target));
  EXPECT_TRUE(is_fillable("GET / HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n", target));
  EXPECT_TRUE(is_fillable("GET / HTTP/1.1\r\nHost: api.example.com:8443\r\n\r\n", {"api.example.com", 8443}));
  for (const auto* raw :
       {"GET / HTTP/1.1\r\nHost: evil.example.com\r\n\r\n", "GET / HTTP/1.1\r\nHost: api.example.com:8443\r\n\r\n",
        "GET https://evil.example/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "GET / HTTP/1.0\r\nX: y\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "TRACE / HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: api.example.com@evil.example\r\n\r\n"}) {
    EXPECT_FALSE(is_fillable(raw, target)) << raw;
  }
}

TEST(RequestFilling, ControlCharactersFitInNoHead) {
  EXPECT_TRUE(fits_in_head("ghp_Ab1-._~ ü"));
  for (const std::string_view value : {"a\nb", "a\r\nX: y", "a\tb", "\x7f"}) EXPECT_FALSE(fits_in_head(value));
  EXPECT_FALSE(fits_in_head(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace agw
