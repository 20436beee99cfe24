#include "io/xmpp/xmpp_element.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(XmlText, IsEscapedAndHasNothingThatXmlForbids) {
  EXPECT_EQ(xml_escaped("a < b && \"c\" > 'd'"), "a &lt; b &amp;&amp; &quot;c&quot; &gt; &apos;d&apos;");
  EXPECT_EQ(xml_escaped("tab\tline\nü😀"), "tab\tline\nü😀");
  EXPECT_EQ(xml_escaped(std::string_view("a\0b\x1b[1m\x7f", 8)), "ab[1m\x7f");
  EXPECT_EQ(xml_escaped("a\xef\xbf\xbfz\xed\xa0\x80z\xff\xc3"), "azz");
  EXPECT_EQ(xml_escaped("]]>"), "]]&gt;");
}

TEST(XmppElement, FindsWhatItContainsByNameAndNamespace) {
  const XmppElement message{
      .name = "message",
      .xmlns = "jabber:client",
      .attributes = {{"from", "ann@example.org/phone"}},
      .children = {{.name = "body", .xmlns = "urn:other", .text = "no"},
                   {.name = "body", .xmlns = "jabber:client", .text = "yes"}},
  };
  EXPECT_EQ(message.attribute("from"), "ann@example.org/phone");
  EXPECT_EQ(message.attribute("to"), "");
  EXPECT_EQ(message.text_of("body", "jabber:client"), "yes");
  EXPECT_EQ(message.child("subject", "jabber:client"), nullptr);
}

}  // namespace
}  // namespace agw
