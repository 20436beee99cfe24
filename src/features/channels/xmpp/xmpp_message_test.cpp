#include "features/channels/xmpp/xmpp_message.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

using namespace std::string_literals;

constexpr std::string_view own_account = "agent@example.org";
constexpr std::string_view client_namespace = "jabber:client";

XmppElement body_of(std::string text) {
  return {.name = "body", .xmlns = std::string(client_namespace), .text = std::move(text)};
}

XmppElement message_from(std::string from, std::string text, std::string type = "chat") {
  return {.name = "message",
          .xmlns = std::string(client_namespace),
          .attributes = {{"from", std::move(from)}, {"type", std::move(type)}, {"id", "m1"}},
          .children = {body_of(std::move(text))}};
}

XmppElement presence_from(std::string from, std::string account, bool is_own = false) {
  constexpr auto user = "http://jabber.org/protocol/muc#user";
  XmppElement x{.name = "x",
                .xmlns = user,
                .children = {{.name = "item", .xmlns = user, .attributes = {{"jid", std::move(account)}}}}};
  if (is_own) x.children.push_back({.name = "status", .xmlns = user, .attributes = {{"code", "110"}}});
  return {.name = "presence",
          .xmlns = std::string(client_namespace),
          .attributes = {{"from", std::move(from)}},
          .children = {x}};
}

class XmppMessage : public ::testing::Test {
protected:
  XmppMessage() {
    rooms.enter();
    rooms.learn(presence_from("team@rooms.example.org/Ann", "ann@example.org/phone"));
    rooms.learn(presence_from("team@rooms.example.org/agent", "agent@example.org/agent-gateway", true));
  }

  std::optional<ReceivedMessage> read(const XmppElement& stanza, ChannelThreads threads = ChannelThreads::chat) const {
    return xmpp_message(stanza, own_account, rooms, threads);
  }
  std::string said_in_room(std::string text, std::string nickname = "Ann") const {
    const auto found = read(message_from("team@rooms.example.org/" + nickname, std::move(text), "groupchat"));
    return found ? (found->only_answers ? "answer: " : "") + found->text : "nothing";
  }

  XmppRooms rooms{{"team@rooms.example.org"}, own_account};
};

TEST_F(XmppMessage, IsWhatAPersonSays) {
  const auto found = read(message_from("Ann@Example.org/phone", "Hello!"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sender, "ann@example.org");
  EXPECT_EQ(found->place, (ChatPlace{"ann@example.org", "", false}));
  EXPECT_EQ(found->text, "Hello!");
  EXPECT_FALSE(read(message_from("agent@example.org/other", "Hello!")));
  EXPECT_FALSE(read(message_from("example.org", "Welcome to this server.")));
  EXPECT_FALSE(read(message_from("ann@example.org/phone", "  \n")));
  EXPECT_FALSE(read(message_from("ann@example.org/phone", "No.", "error")));
}

TEST_F(XmppMessage, IsTheSameOneWhenItComesAgain) {
  const auto first = read(message_from("ann@example.org/phone", "Yes"));
  auto again = message_from("ann@example.org/phone", "Yes");
  again.children.push_back({.name = "delay", .xmlns = "urn:xmpp:delay"});
  EXPECT_EQ(read(again)->update, first->update);
  EXPECT_NE(read(message_from("ann@example.org/phone", "No"))->update, first->update);
  EXPECT_NE(read(message_from("ann@example.org/laptop", "Yes"))->update, first->update);
  auto archived = again;
  archived.children.push_back(
      {.name = "stanza-id", .xmlns = "urn:xmpp:sid:0", .attributes = {{"id", "forged"}, {"by", "ann@example.org"}}});
  archived.children.push_back({.name = "stanza-id",
                               .xmlns = "urn:xmpp:sid:0",
                               .attributes = {{"id", "archive-1"}, {"by", "agent@example.org"}}});
  EXPECT_EQ(read(archived)->update, "archive-1");
}

TEST_F(XmppMessage, InARoomNamesTheChannel) {
  EXPECT_EQ(said_in_room("agent: what now?"), "what now?");
  EXPECT_EQ(said_in_room("@Agent what now?"), "what now?");
  EXPECT_EQ(said_in_room("agent"), "nothing");
  EXPECT_EQ(said_in_room("agents, what now?"), "nothing");
  EXPECT_EQ(said_in_room("what now?"), "nothing");
  EXPECT_EQ(said_in_room("/stop"), "/stop");
  EXPECT_EQ(said_in_room("2"), "answer: 2");
  EXPECT_EQ(said_in_room("agent: what now?", "agent"), "nothing");
  EXPECT_EQ(said_in_room("agent: what now?", "Eve"), "nothing");
}

TEST_F(XmppMessage, IsAboutPeopleWhoAreInTheRoomNow) {
  auto left = presence_from("team@rooms.example.org/Ann", "ann@example.org/phone");
  left.attributes.emplace_back("type", "unavailable");
  rooms.learn(left);
  EXPECT_EQ(said_in_room("agent: what now?"), "nothing");
  EXPECT_NE(rooms.learn(presence_from("team@rooms.example.org/agent", "", true)), "");
  EXPECT_EQ(rooms.learn(presence_from("other@rooms.example.org/Ann", "ann@example.org/phone")), "");
  EXPECT_FALSE(read(message_from("other@rooms.example.org/Ann", "agent: what now?", "groupchat")));
}

TEST(XmppRooms, AreEnteredAgainUnlessAPersonRemovedTheChannel) {
  const auto entered_after = [](const std::vector<std::string>& codes) {
    XmppRooms rooms({"team@rooms.example.org"}, own_account);
    rooms.enter();
    EXPECT_TRUE(rooms.is_outside());
    auto presence = presence_from("team@rooms.example.org/agent", "agent@example.org/agent-gateway", true);
    rooms.learn(presence);
    EXPECT_FALSE(rooms.is_outside());
    presence.attributes.emplace_back("type", "unavailable");
    auto& user = presence.children[0];
    for (const auto& code : codes)
      user.children.push_back({.name = "status", .xmlns = user.xmlns, .attributes = {{"code", code}}});
    EXPECT_NE(rooms.learn(presence), "");
    return rooms.is_outside() && !rooms.enter_again().empty();
  };
  EXPECT_TRUE(entered_after({}));
  EXPECT_TRUE(entered_after({"332"}));
  EXPECT_TRUE(entered_after({"307", "333"}));
  EXPECT_FALSE(entered_after({"307"}));
  EXPECT_FALSE(entered_after({"301"}));
}

TEST_F(XmppMessage, BringsAFileByItsAddress) {
  auto stanza = message_from("ann@example.org/phone", "https://example.org/a%20b/plan.pdf?x=1");
  stanza.children.push_back(
      {.name = "x",
       .xmlns = "jabber:x:oob",
       .children = {{.name = "url", .xmlns = "jabber:x:oob", .text = "https://example.org/a%20b/plan.pdf?x=1"}}});
  const auto found = read(stanza);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->files.size(), 1u);
  EXPECT_EQ(found->files[0].name, "plan.pdf");
  EXPECT_EQ(found->text, "");
}

TEST(XmppStanza, IsEscapedAndSaysWhatItIs) {
  const OutgoingMessage message{
      .to = {"ann@example.org", "t'1", false}, .id = "id1", .text = "a < b", .edits = "id0", .is_unfinished = true};
  EXPECT_EQ(
      xmpp_stanza(message),
      "<message to='ann@example.org' type='chat' id='id1'><body>a &lt; b</body><thread>t&apos;1</thread>"
      "<replace id='id0' xmlns='urn:xmpp:message-correct:0'/><unstyled xmlns='urn:xmpp:styling:0'/>"
      "<active xmlns='http://jabber.org/protocol/chatstates'/><origin-id xmlns='urn:xmpp:sid:0' id='id1'/></message>"
      "<message to='ann@example.org' type='chat'><composing xmlns='http://jabber.org/protocol/chatstates'/>"
      "<no-store xmlns='urn:xmpp:hints'/></message>");
  const OutgoingMessage said{
      .to = {"team@rooms.example.org", "", true}, .id = "id2", .text = "**b**", .is_markdown = true};
  EXPECT_EQ(xmpp_stanza(said),
            "<message to='team@rooms.example.org' type='groupchat' id='id2'><body>*b*</body>"
            "<origin-id xmlns='urn:xmpp:sid:0' id='id2'/></message>");
}

TEST(XmppStanza, NamesWhereAFileIs) {
  OutgoingMessage message{.to = {"team@rooms.example.org", "", true}, .id = "id3", .text = {}, .is_markdown = true};
  const auto rest = "<origin-id xmlns='urn:xmpp:sid:0' id='id3'/></message>";
  const auto begin = "<message to='team@rooms.example.org' type='groupchat' id='id3'><body>https://u.example/?a&amp;b"s;
  const auto url = "<x xmlns='jabber:x:oob'><url>https://u.example/?a&amp;b</url></x>"s;
  EXPECT_EQ(xmpp_stanza(message, "https://u.example/?a&b"), begin + "</body>" + url + rest);
  message.text = "(twice)";
  EXPECT_EQ(xmpp_stanza(message, "https://u.example/?a&b"), begin + "\n\n(twice)</body>" + url + rest);
}

}  // namespace
}  // namespace agw
