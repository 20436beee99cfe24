#include "io/http/web_url.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

#include "base/text/ascii.hpp"
#include "base/text/numbers.hpp"

namespace agw {

namespace {

namespace urls = boost::urls;

constexpr std::size_t max_url_length = 8192;

bool is_unreserved(char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

/// The end of the host and port in a URL, or the start of a reference without them.
std::size_t end_of_authority(std::string_view text) {
  const auto first = text.find_first_of("/?#");
  const bool has_one =
      first != text.npos && (first == 0 || text[first - 1] == ':') && text.substr(first).starts_with("//");
  return has_one ? std::min(text.find_first_of("/?#", first + 2), text.size()) : 0;
}

/// Encodes characters that people write in URLs but strict parsers reject. Brackets stay only around an IPv6 address in
/// the host.
std::string encode_unwritten(std::string_view text) {
  const auto authority = end_of_authority(text);
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_unwritten = c == ' ' || static_cast<unsigned char>(c) >= 0x80 ||
                              std::string_view("\"<>^`{|}").find(c) != std::string_view::npos ||
                              (at >= authority && (c == '[' || c == ']'));
    if (is_unwritten) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

bool is_plain_name(std::string_view host) {
  return !host.empty() &&
         std::ranges::all_of(host, [](char c) { return is_unreserved(c) && c != '~' && !is_upper(c); });
}

/// The host without the brackets of an IPv6 address; empty if it has an unknown form.
std::string plain_host(const urls::url& url) {
  auto host = boost::to_lower_copy(std::string(url.host()));
  if (url.host_type() == urls::host_type::ipv6) {
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address_v6(host.substr(1, host.size() - 2), error);
    return error ? std::string() : address.to_string();
  }
  if (std::ranges::any_of(host, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    host = to_ascii_host(host).value_or("");
  }
  return is_plain_name(host) ? host : std::string();
}

/// The port of the URL, which may be the default; nullopt if it is not a valid number.
std::optional<unsigned> port_of(const urls::url& url) {
  const std::string text(url.port());
  if (text.empty()) return url.scheme() == "http" ? 80 : 443;
  return parse_port(text);
}

std::string origin_of(const urls::url& url, const std::string& host, unsigned port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  auto origin = fmt::format("{}://{}", std::string(url.scheme()), is_v6 ? "[" + host + "]" : host);
  if (port != (url.scheme() == "http" ? 80 : 443)) origin += fmt::format(":{}", port);
  return origin;
}

}  // namespace

std::optional<WebUrl> WebUrl::parse(std::string_view given) {
  const auto text = encode_unwritten(boost::trim_copy(std::string(given)));
  if (text.size() > max_url_length) return std::nullopt;
  const auto parsed = urls::parse_uri(text);
  if (!parsed) return std::nullopt;
  urls::url url(*parsed);
  url.normalize_scheme();
  if ((url.scheme() != "http" && url.scheme() != "https") || url.has_userinfo()) return std::nullopt;
  WebUrl made;
  made.host_ = plain_host(url);
  const auto port = port_of(url);
  if (made.host_.empty() || !port) return std::nullopt;
  made.origin_ = origin_of(url, made.host_, *port);
  const std::string path(url.encoded_path());
  made.text_ = made.origin_ + (path.empty() ? "/" : path);
  if (url.has_query()) made.text_ += "?" + std::string(url.encoded_query());
  return made;
}

std::string WebUrl::host_of(std::string_view text) {
  auto url = parse(text);
  return url ? std::move(url->host_) : std::string();
}

std::optional<WebUrl> WebUrl::resolve(std::string_view given) const {
  const auto base = urls::parse_uri(text_);
  const auto encoded = encode_unwritten(boost::trim_copy(std::string(given)));
  const auto reference = urls::parse_uri_reference(encoded);
  if (!base || !reference || encoded.size() > max_url_length) return std::nullopt;
  urls::url resolved;
  if (!urls::resolve(*base, *reference, resolved)) return std::nullopt;
  return parse(std::string_view(resolved.buffer()));
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace agw
