#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// A normalised http or https URL, so that URLs can be compared and the checked URL is the one used: scheme and host in
/// lower case, no default port, no fragment. Non-ASCII characters are percent-encoded, in the host converted as DNS
/// requires.
/// Example: src/io/http/web_url_test.cpp: WebUrl.KnowsItsParts
class WebUrl {
public:
  /// Nullopt if the text is not such a URL, contains a user name or password, or has a host that programs interpret
  /// differently. Accepts spaces and non-ASCII characters in the path and query, which people paste.
  static std::optional<WebUrl> parse(std::string_view text);

  /// The host of such a URL, or an empty string.
  static std::string host_of(std::string_view text);

  /// Resolves a link or a `Location` relative to this URL.
  std::optional<WebUrl> resolve(std::string_view reference) const;

  const std::string& text() const { return text_; }
  const std::string& host() const { return host_; }      ///< without the brackets of an IPv6 address
  const std::string& origin() const { return origin_; }  ///< `https://example.org:8443`
  /// The path and query, beginning with `/`.
  std::string_view target() const { return std::string_view(text_).substr(origin_.size()); }

private:
  std::string text_;
  std::string host_;
  std::string origin_;
};

/// Percent-encodes every byte except letters, digits, `-`, `.`, `_` and `~`.
std::string percent_encode(std::string_view text);

/// Converts a host name for DNS: non-ASCII labels become `xn--…` (RFC 5891, mapped as in UTS 46, which browsers use).
/// Nullopt if it is not a name or libidn2 is missing.
std::optional<std::string> to_ascii_host(const std::string& name);

}  // namespace agw
