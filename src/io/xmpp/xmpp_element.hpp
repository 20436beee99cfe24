#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw {

/// An element of an XMPP stream: a stanza, or a part of one.
struct XmppElement {
  std::string name{};
  std::string xmlns{};
  std::vector<std::pair<std::string, std::string>> attributes{};  ///< without prefixes of their names
  std::string text{};                                             ///< its own, without that of its children
  std::vector<XmppElement> children{};

  /// Empty if it has no such attribute.
  std::string_view attribute(std::string_view wanted) const;
  /// The first such child, or null.
  const XmppElement* child(std::string_view wanted, std::string_view in_namespace) const;
  /// The text of the first such child; empty if there is none.
  std::string_view text_of(std::string_view wanted, std::string_view in_namespace) const;
};

/// Text as it stands in XML, in an attribute too. What XML 1.0 cannot have is left out: control characters, and bytes
/// that are no UTF-8.
/// Example: src/io/xmpp/xmpp_element_test.cpp: XmlText.IsEscapedAndHasNothingThatXmlForbids
std::string xml_escaped(std::string_view text);

}  // namespace agw
