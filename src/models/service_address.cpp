#include <algorithm>
#include <array>

#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/containers.hpp"
#include "io/http/public_address.hpp"
#include "io/http/web_url.hpp"
#include "models/service_definition.hpp"

namespace agw {

namespace {

constexpr std::string_view no_address = "must be an http or https address such as https://api.example.com/v1";
constexpr std::string_view use_secret = "keep the key as a secret";

/// Names that resolve to a metadata service in the networks of clouds.
constexpr std::array<std::string_view, 5> metadata_names = {"metadata.google.internal", "metadata.goog", "metadata",
                                                            "instance-data", "instance-data.ec2.internal"};

bool is_metadata_host(std::string_view url_host) {
  const std::string host(without_root(url_host));
  if (const auto address = numeric_address(host)) return is_metadata_address(*address);
  return contains(metadata_names, host);
}

}  // namespace

bool names_key(std::string_view name) {
  static constexpr std::array<std::string_view, 7> words = {"key",    "token",    "secret",    "authorization",
                                                            "cookie", "password", "credential"};
  return std::ranges::any_of(words, [&](auto word) { return boost::icontains(name, word); });
}

std::string address_problem(std::string_view base_url) {
  auto text = std::string(base_url);
  boost::replace_all(text, "{model}", "model");
  if (const auto parsed = boost::urls::parse_uri(text); parsed && parsed->has_userinfo()) {
    return "must not hold a user name or password: " + std::string(use_secret);
  }
  const auto url = WebUrl::parse(text);
  const bool has_brace = text.find_first_of("{}") != text.npos;
  if (!url || has_brace || text.find_first_of(" \t\r\n") != text.npos) return std::string(no_address);
  if (is_metadata_host(url->host())) return "must not be the metadata service of a cloud";
  const auto parsed = boost::urls::parse_uri(url->text());
  if (!parsed) return std::string(no_address);
  const auto query = parsed->params();
  const bool has_key = std::any_of(query.begin(), query.end(), [](const auto& one) { return names_key(one.key); });
  return has_key ? "must not hold a key: " + std::string(use_secret) + ", in api_key or a header" : std::string();
}

std::string key_problem(std::string_view key) {
  if (key.empty()) return "is empty";
  if (key.find_first_of("\r\n") != key.npos) return "holds a line end: store it again as one line";
  const bool fits = std::ranges::all_of(key, [](char c) { return c > 0x20 && c < 0x7f; });
  return fits ? std::string() : "contains spaces or other characters that are invalid in a key";
}

}  // namespace agw
