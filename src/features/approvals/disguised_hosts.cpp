#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>

#include "features/approvals/exact_text.hpp"
#include "io/http/public_address.hpp"
#include "io/http/web_url.hpp"

namespace agw {

namespace {

constexpr std::string_view ends_authority = " \t\r\n'\"`<>|;/?#";
constexpr std::string_view ends_word = " \t\r\n'\"`<>|;\\/:@=,()";

bool is_foreign(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

/// A number such as `2130706433` or `0x7f.1` is also the address of a host.
std::string real_host(const std::string& name) {
  if (const auto address = numeric_address(name)) return address->to_string();
  return is_foreign(name) ? to_ascii_host(name).value_or("") : name;
}

/// The host and port, with a user before it. Browsers take a backslash for a slash, which ends the authority; for other
/// programs it is part of the user's name.
std::string_view authority_of(std::string_view url) {
  const auto authority = url.substr(0, url.find_first_of(ends_authority));
  const auto backslash = authority.find('\\');
  return backslash != authority.npos && authority.find('@', backslash) == authority.npos
             ? authority.substr(0, backslash)
             : authority;
}

void consider(std::string_view shown, std::vector<DisguisedHost>& found) {
  const auto at = shown.rfind('@');
  const auto user = at == shown.npos ? std::string_view() : shown.substr(0, at);
  auto name = boost::to_lower_copy(std::string(shown.substr(at == shown.npos ? 0 : at + 1)));
  if (!name.starts_with('[')) name = name.substr(0, name.find(':'));
  const auto real = real_host(name);
  if (real.empty() || (real == name && user.find('.') == user.npos)) return;
  found.push_back({std::string(shown), real});
}

}  // namespace

std::vector<DisguisedHost> disguised_hosts(std::string_view text) {
  std::vector<DisguisedHost> found;
  std::set<std::string_view> known;
  const auto consider_once = [&](std::string_view shown) {
    if (known.insert(shown).second) consider(shown, found);
  };
  std::string others;
  auto rest = text;
  for (auto at = rest.find("://"); at != rest.npos; at = rest.find("://")) {
    others.append(rest.substr(0, at)).append(" ");
    rest.remove_prefix(at + 3);
    const auto authority = authority_of(rest);
    consider_once(authority);
    rest.remove_prefix(authority.size());
  }
  others.append(rest);
  for (std::size_t at = 0; (at = others.find_first_not_of(ends_word, at)) != others.npos;) {
    const auto end = std::min(others.find_first_of(ends_word, at), others.size());
    const auto name = std::string_view(others).substr(at, end - at);
    const auto dot = name.find('.');
    if (dot != name.npos && dot > 0 && dot + 1 < name.size() && is_foreign(name)) consider_once(name);
    at = end;
  }
  return found;
}

}  // namespace agw
