#include "features/events/hub.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/json/describe.hpp"

namespace agw {
namespace {

struct Note {
  std::string id;
};
BOOST_DESCRIBE_STRUCT(Note, (), (id))
const Description& describe(Tag<Note>) { return description_of<Note>("Note"); }

struct OtherNote {
  std::string id;
};
BOOST_DESCRIBE_STRUCT(OtherNote, (), (id))
const Description& describe(Tag<OtherNote>) { return description_of<OtherNote>("OtherNote"); }

/// Records the messages for clients.
struct EventClient : Subscriber {
  explicit EventClient(Hub& hub) : listening(std::in_place, hub, *this) {}
  void deliver(const DomainEvent& event) override {
    if (!event.type.empty()) messages.push_back(event.message());
  }
  bool awaits(std::string_view) const override { return true; }
  std::vector<SharedMessage> messages;
  std::optional<Hub::Listening> listening;
};

TEST(Hub, SerialisesAnEventOnceForAllClients) {
  Hub hub;
  EventClient one(hub);
  EventClient two(hub);
  const Note note{"n"};
  hub.publish({.name = "note.created", .type = "note-created", .thread_id = "t", .member = "note", .record = note});
  ASSERT_EQ(one.messages.size(), 1u);
  EXPECT_EQ(*one.messages[0], R"({"type":"note-created","threadId":"t","note":{"id":"n"}})");
  EXPECT_EQ(one.messages, two.messages) << "the same text, not a copy";
}

TEST(Hub, LeavesOutTheThreadOfAnEventThatHasNone) {
  Hub hub;
  EventClient client(hub);
  hub.publish({.type = "note-created", .member = "note", .record = Note{"n"}});
  EXPECT_EQ(*client.messages.at(0), R"({"type":"note-created","note":{"id":"n"}})");
}

TEST(Hub, SendsATextUnchanged) {
  Hub hub;
  EventClient client(hub);
  hub.publish({.type = "text-delta", .thread_id = "t", .text = R"({"text":"a"})"});
  EXPECT_EQ(*client.messages.at(0), R"({"text":"a"})");
}

TEST(Hub, DeliversNothingAfterUnsubscribing) {
  Hub hub;
  EventClient client(hub);
  EXPECT_TRUE(hub.awaited("note."));
  client.listening.reset();
  EXPECT_FALSE(hub.awaited("note."));
  hub.publish({.type = "note-created", .member = "note", .record = Note{"n"}});
  EXPECT_TRUE(client.messages.empty());
}

TEST(RecordView, IsOfOneType) {
  const Note note{"n"};
  const RecordView view = note;
  EXPECT_EQ(view.as<Note>(), &note);
  EXPECT_EQ(view.as<OtherNote>(), nullptr);
  EXPECT_EQ(RecordView().as<Note>(), nullptr);
  EXPECT_EQ(view.members(), (json::object{{"id", "n"}}));
}

}  // namespace
}  // namespace agw
