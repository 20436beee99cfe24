#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// An element of an XMPP stream: a stanza or a part of one.
struct XmppElement {
  std::string name{};
  std::string xmlns{};
  std::vector<std::pair<std::string, std::string>> attributes{};  ///< with names without prefixes
  std::string text{};                                             ///< its own text, without that of its children
  std::vector<XmppElement> children{};

  /// The attribute's value; empty if there is none.
  std::string_view attribute(std::string_view wanted) const;
  /// The first matching child, or null.
  const XmppElement* child(std::string_view wanted, std::string_view in_namespace) const;
  /// The text of the first matching child; empty if there is none.
  std::string_view text_of(std::string_view wanted, std::string_view in_namespace) const;
};

/// Escapes text for XML, also for attributes. Omits anything not allowed by XML 1.0: control characters, and bytes that
/// are not UTF-8.
/// Example: src/io/xmpp/xmpp_element_test.cpp: XmlText.IsEscapedAndHasNothingThatXmlForbids
std::string xml_escaped(std::string_view text);

}  // namespace agw
