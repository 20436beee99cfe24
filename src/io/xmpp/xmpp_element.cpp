#include "io/xmpp/xmpp_element.hpp"

#include <algorithm>
#include <cstddef>

namespace agw {

namespace {

/// The length of the first character; 0 if it is not valid UTF-8 or not allowed in XML.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_beyond = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  const bool is_no_character = text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
  return is_overlong || is_beyond || is_no_character ? 0 : size;
}

}  // namespace

std::string_view XmppElement::attribute(std::string_view wanted) const {
  const auto found = std::ranges::find(attributes, wanted, &std::pair<std::string, std::string>::first);
  return found == attributes.end() ? std::string_view() : found->second;
}

const XmppElement* XmppElement::child(std::string_view wanted, std::string_view in_namespace) const {
  const auto found = std::ranges::find_if(
      children, [&](const XmppElement& one) { return one.name == wanted && one.xmlns == in_namespace; });
  return found == children.end() ? nullptr : &*found;
}

std::string_view XmppElement::text_of(std::string_view wanted, std::string_view in_namespace) const {
  const auto* found = child(wanted, in_namespace);
  return found ? std::string_view(found->text) : std::string_view();
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const auto size = character_size(text);
    if (text[0] == '<')
      escaped += "&lt;";
    else if (text[0] == '>')
      escaped += "&gt;";
    else if (text[0] == '&')
      escaped += "&amp;";
    else if (text[0] == '"')
      escaped += "&quot;";
    else if (text[0] == '\'')
      escaped += "&apos;";
    else
      escaped += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return escaped;
}

}  // namespace agw
