#include "io/http/web_url.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string normal(std::string_view text) {
  const auto url = WebUrl::parse(text);
  return url ? url->text() : "none";
}

std::string resolved(std::string_view base, std::string_view reference) {
  const auto url = WebUrl::parse(base)->resolve(reference);
  return url ? url->text() : "none";
}

TEST(WebUrl, HasOneForm) {
  EXPECT_EQ(normal("HTTP://Example.ORG"), "http://example.org/");
  EXPECT_EQ(normal("https://example.org:443/a?b=c#d"), "https://example.org/a?b=c");
  EXPECT_EQ(normal("http://example.org:8080/a"), "http://example.org:8080/a");
  EXPECT_EQ(normal(" https://example.org/a b/ü "), "https://example.org/a%20b/%C3%BC");
  EXPECT_EQ(normal("http://[::FFFF:7F00:1]/"), "http://[::ffff:127.0.0.1]/");
  EXPECT_EQ(normal("http://%65xample.org/"), "http://example.org/");
  EXPECT_EQ(normal("http://[::1]/a[1]?b[c]=[d]#[e]"), "http://[::1]/a%5B1%5D?b%5Bc%5D=%5Bd%5D");
}

TEST(WebUrl, RefusesAmbiguousUrls) {
  for (const char* text : {"",
                           "example.org",
                           "ftp://example.org/",
                           "file:///etc/passwd",
                           "javascript:alert(1)",
                           "http://",
                           "http:///a",
                           "http://a b/",
                           "http://good@evil.org/",
                           "http://good:x@evil.org/",
                           "http://good\\@evil.org/",
                           "http://good%00.evil.org/",
                           "http://good%2F.evil.org/",
                           "http://g\nood/",
                           "http://good/\r\nHost: evil",
                           "http://example.org:0/",
                           "http://example.org:99999/",
                           "http://a℀b.de/",
                           "http://m\xFCnchen.de/",
                           "http://\xE2\x80\x8B/",
                           "http://\xC3\xBC%00.de/",
                           "gopher://x/"}) {
    EXPECT_EQ(normal(text), "none") << text;
  }
  EXPECT_EQ(normal("http://example.org/" + std::string(9000, 'a')), "none");
}

TEST(WebUrl, HasTheHostThatBrowsersAskFor) {
  EXPECT_EQ(normal("http://München.de/ü"), "http://xn--mnchen-3ya.de/%C3%BC");
  EXPECT_EQ(normal("http://m%C3%BCnchen.de/"), "http://xn--mnchen-3ya.de/");
  EXPECT_EQ(normal("http://mu\xCC\x88nchen.de/"), "http://xn--mnchen-3ya.de/");
  EXPECT_EQ(normal("https://faß.de:8443/"), "https://xn--fa-hia.de:8443/");
  EXPECT_EQ(normal("https://例え。テスト/"), "https://xn--r8jz45g.xn--zckzah/");
  EXPECT_EQ(normal("http://１２７.０.０.１/"), "http://127.0.0.1/");
  EXPECT_EQ(resolved("https://example.org/a", "//bücher.example/b"), "https://xn--bcher-kva.example/b");
}

TEST(WebUrl, ResolvesWhatAPageLinksTo) {
  EXPECT_EQ(resolved("https://example.org/a/b?c", "d"), "https://example.org/a/d");
  EXPECT_EQ(resolved("https://example.org/a/b", "../x/y?z"), "https://example.org/x/y?z");
  EXPECT_EQ(resolved("https://example.org/a/b", "/x"), "https://example.org/x");
  EXPECT_EQ(resolved("https://example.org/a", "//other.org/y"), "https://other.org/y");
  EXPECT_EQ(resolved("https://example.org/a", "http://169.254.169.254/x"), "http://169.254.169.254/x");
  EXPECT_EQ(resolved("https://example.org/a", "javascript:alert(1)"), "none");
  EXPECT_EQ(resolved("https://example.org/a", "//[::1]/b[1]"), "https://[::1]/b%5B1%5D");
  EXPECT_EQ(resolved("https://example.org/a", "?b[c]=d//[e]"), "https://example.org/a?b%5Bc%5D=d//%5Be%5D");
  EXPECT_EQ(resolved("https://example.org/a?b", "#top"), "https://example.org/a?b");
}

TEST(WebUrl, KnowsItsParts) {
  const auto url = *WebUrl::parse("https://[2001:db8::1]:8443/a?b");
  EXPECT_EQ(url.host(), "2001:db8::1");
  EXPECT_EQ(url.origin(), "https://[2001:db8::1]:8443");
  EXPECT_EQ(url.target(), "/a?b");
}

TEST(WebUrl, EncodesWhatHasAMeaningInAnAddress) {
  EXPECT_EQ(percent_encode("a/b?c=d&e ü"), "a%2Fb%3Fc%3Dd%26e%20%C3%BC");
}

}  // namespace
}  // namespace agw
