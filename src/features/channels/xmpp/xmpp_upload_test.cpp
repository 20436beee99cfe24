#include "features/channels/xmpp/xmpp_upload.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace agw {
namespace {

constexpr auto upload_namespace = "urn:xmpp:http:upload:0";

XmppElement slot_part(std::string name, std::string url) {
  return {.name = std::move(name), .xmlns = upload_namespace, .attributes = {{"url", std::move(url)}}};
}

XmppElement slot_header(std::string name, std::string value) {
  return {
      .name = "header", .xmlns = upload_namespace, .attributes = {{"name", std::move(name)}}, .text = std::move(value)};
}

XmppElement response_with(std::vector<XmppElement> parts) {
  return {.name = "iq", .children = {{.name = "slot", .xmlns = upload_namespace, .children = std::move(parts)}}};
}

TEST(XmppUpload, ReadsASlot) {
  auto put = slot_part("put", "https://u.example/put");
  put.children = {slot_header("authorization", "Bearer x"), slot_header("Host", "evil.example"),
                  slot_header("Cookie", "a\r\nb: c")};
  const auto slot = xmpp_slot(response_with({put, slot_part("get", "https://u.example/get")}));
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->put.text(), "https://u.example/put");
  EXPECT_EQ(slot->get, "https://u.example/get");
  ASSERT_EQ(slot->headers.size(), 1u);
  EXPECT_EQ(slot->headers[0], (HttpHeader{"authorization", "Bearer x"}));
}

TEST(XmppUpload, RefusesASlotThatIsNotOnTheWeb) {
  const auto put = slot_part("put", "https://u.example/put");
  const auto get = slot_part("get", "https://u.example/get");
  EXPECT_FALSE(xmpp_slot(response_with({put})));
  EXPECT_FALSE(xmpp_slot(response_with({get})));
  EXPECT_FALSE(xmpp_slot(response_with({slot_part("put", "file:///etc/passwd"), get})));
  EXPECT_FALSE(xmpp_slot(response_with({put, slot_part("get", "javascript:alert(1)")})));
}

}  // namespace
}  // namespace agw
