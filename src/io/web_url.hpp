#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// An http or https address in one form, so that two can be compared and so that what was judged is what is asked for:
/// scheme and host in lower case, no default port, no fragment, and characters beyond ASCII percent-encoded, those of
/// the host as DNS has them.
class WebUrl {
public:
  /// Nothing for what is no such address, holds a name or password, or has a host that only some programs would read
  /// alike. Spaces and characters beyond ASCII in the path or query are taken, as people paste them.
  static std::optional<WebUrl> parse(std::string_view text);

  /// Where a link or a `Location` on this page leads.
  std::optional<WebUrl> resolve(std::string_view reference) const;

  const std::string& text() const { return text_; }
  const std::string& host() const { return host_; }      ///< without the brackets of an IPv6 address
  const std::string& origin() const { return origin_; }  ///< `https://example.org:8443`
  /// Beginning with `/`, query included.
  std::string_view target() const { return std::string_view(text_).substr(origin_.size()); }

private:
  std::string text_;
  std::string host_;
  std::string origin_;
};

/// Every byte that is not a letter, digit, `-`, `.`, `_` or `~` as `%XX`.
std::string percent_encode(std::string_view text);

}  // namespace agw
