#include "features/context/attached_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/context/service.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

using namespace testing::extensions;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct AttachedFixture : ExtensionsFixture {
  AttachedFixture(Loop& loop, const testing::ScratchDirectory& directory)
      : ExtensionsFixture(loop, directory), blocking(loop), attachments(blocking, database, clock, directory.path()) {}

  Task<Turn> say(std::string content, std::string name, std::string mime, std::string bytes) {
    const std::vector<Attachment> files{co_await attachments.add(name, mime, bytes)};
    co_return Turn{.role = Role::user, .content = std::move(content), .metadata = attachment_metadata(files)};
  }
  /// The message that a model gets for the last of `turns`.
  Task<Message> shown(std::vector<Turn> turns, bool sees = true, std::size_t budget = 1'000) {
    const auto files = co_await load_attached_files(attachments, turns, sees, budget);
    Message message{.text = turns.back().content};
    add_attached_files(message, turns.back(), files);
    co_return message;
  }

  BlockingPool blocking;
  Attachments attachments;
};

void with_attached_fixture(std::function<Task<>(AttachedFixture&)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    AttachedFixture fixture(loop, directory);
    co_await body(fixture);
  });
}

TEST(AttachedFiles, TextFollowsTheMessage) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    std::vector<Turn> turns{co_await fixture.say("read this", "notes.txt", "text/plain", "the cat is Tom")};
    const auto message = co_await fixture.shown(turns);
    EXPECT_THAT(message.text, StartsWith("read this\n\n--- begin of the attached file notes.txt (text/plain), "));
    EXPECT_THAT(message.text, HasSubstr("---\nthe cat is Tom\n---"));
    EXPECT_TRUE(message.images.empty());
  });
}

TEST(AttachedFiles, PicturesAreForModelsWithVision) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    std::vector<Turn> turns{co_await fixture.say("look", "a.png", "image/png", "\x89PNG\r\n")};
    const auto seen = co_await fixture.shown(turns);
    EXPECT_EQ(seen.images.at(0).mime + seen.images.at(0).bytes, "image/png\x89PNG\r\n");
    EXPECT_EQ(seen.text, "look");
    const auto unseen = co_await fixture.shown(turns, false);
    EXPECT_TRUE(unseen.images.empty());
    EXPECT_THAT(unseen.text, HasSubstr("[The file a.png (image/png) is attached, but cannot be shown to you.]"));
  });
}

TEST(AttachedFiles, InvalidPicturesAreOnlyMentioned) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    for (const std::string mime : {"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"}) {
      std::vector<Turn> turns{co_await fixture.say("look", "a.png", mime, "<!doctype html>")};
      const auto shown = co_await fixture.shown(turns);
      EXPECT_TRUE(shown.images.empty()) << mime;
      EXPECT_THAT(shown.text, HasSubstr("[The file a.png (" + mime + ") is attached, but cannot be shown to you.]"));
    }
  });
}

TEST(AttachedFiles, PicturesAreRecognizedByTheirFirstBytes) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    const std::vector<std::pair<std::string, std::string>> pictures{
        {"image/jpeg", "\xff\xd8\xff\xe0"}, {"image/gif", "GIF89a"}, {"image/webp", "RIFFxxxxWEBPVP8 "}};
    for (const auto& [mime, bytes] : pictures) {
      std::vector<Turn> turns{co_await fixture.say("look", "a", mime, bytes)};
      EXPECT_EQ((co_await fixture.shown(turns)).images.at(0).mime, mime);
    }
    std::vector<Turn> turns{co_await fixture.say("look", "a.jpg", "image/jpg", "\xff\xd8\xff\xe0")};
    EXPECT_EQ((co_await fixture.shown(turns)).images.at(0).mime, "image/jpeg");
  });
}

TEST(AttachedFiles, BinaryFilesAreOnlyMentioned) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    for (const std::string& bytes : {std::string("\xff\xfe"), std::string("a\0b", 3)}) {
      std::vector<Turn> turns{co_await fixture.say("read", "x.bin", "text/plain", bytes)};
      EXPECT_THAT((co_await fixture.shown(turns)).text, HasSubstr("cannot be shown"));
    }
  });
}

TEST(AttachedFiles, TheNewestTextComesFirst) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    std::vector<Turn> turns{co_await fixture.say("one", "a.txt", "text/plain", std::string(600, 'a')),
                            co_await fixture.say("two", "b.txt", "text/plain", std::string(600, 'b'))};
    const auto files = co_await load_attached_files(fixture.attachments, turns, true, 1'000);
    EXPECT_EQ(files.size(), 1u);
    EXPECT_EQ(files.begin()->second.attachment.name, "b.txt");
  });
}

TEST(AttachedFiles, AFileOfSeveralTurnsIsShownInTheNewest) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    std::vector<Turn> turns{co_await fixture.say("one", "a.txt", "text/plain", std::string(600, 'a'))};
    turns.push_back(turns.front());
    turns[0].id = "older";
    turns[1].id = "newer";
    const auto files = co_await load_attached_files(fixture.attachments, turns, true, 1'000);
    Message older;
    add_attached_files(older, turns[0], files);
    EXPECT_EQ(older.text, "\n\n[The file a.txt (text/plain) is attached; it stands with a later message.]");
    Message newer;
    add_attached_files(newer, turns[1], files);
    EXPECT_THAT(newer.text, HasSubstr("aaa"));
  });
}

TEST(AttachedFiles, LoadedFilesAreNotReadAgain) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    std::vector<Turn> turns{co_await fixture.say("one", "a.txt", "text/plain", "on disk")};
    auto loaded = co_await load_attached_files(fixture.attachments, turns, true, 1'000);
    loaded.begin()->second.bytes = "in hand";
    const auto files = co_await load_attached_files(fixture.attachments, turns, true, 1'000, std::move(loaded));
    EXPECT_EQ(files.begin()->second.bytes, "in hand");
  });
}

TEST(AttachedFiles, PicturesDoNotCountAsText) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    std::vector<Turn> turns{co_await fixture.say("one", "a.txt", "text/plain", std::string(600, 'a')),
                            co_await fixture.say("two", "b.png", "image/png", "\x89PNG\r\n" + std::string(594, 'b')),
                            co_await fixture.say("three", "c.txt", "text/plain", std::string(300, 'c'))};
    const auto files = co_await load_attached_files(fixture.attachments, turns, true, 1'000);
    EXPECT_EQ(files.size(), 3u);
    EXPECT_EQ(text_size(files), 900u);
  });
}

TEST(AttachedFiles, ForgedMetadataReachesNoFile) {
  with_attached_fixture([](AttachedFixture& fixture) -> Task<> {
    for (const std::string made_up : {R"([{"id": "../.gateway-token", "name": "a\nb"}])", R"([1, {}])", R"("x")"}) {
      Turn turn{.role = Role::user, .content = "read", .metadata = json::object{}};
      (*turn.metadata)["attachments"] = *parse_json(made_up);
      const auto files = co_await load_attached_files(fixture.attachments, {turn}, true, 1'000);
      EXPECT_TRUE(files.empty());
      Message message;
      add_attached_files(message, turn, files);
      EXPECT_EQ(message.text.find("a\nb"), std::string::npos);
    }
  });
}

TEST(AttachedFiles, EachFileWithoutAnIdIsMentioned) {
  Turn turn{.role = Role::user, .content = "read", .metadata = json::object{}};
  (*turn.metadata)["attachments"] = json::array{{{"name", "a.txt"}}, {{"name", "b.txt"}}};
  Message message;
  add_attached_files(message, turn, {});
  EXPECT_THAT(message.text, HasSubstr("a.txt"));
  EXPECT_THAT(message.text, HasSubstr("b.txt"));
}

}  // namespace
}  // namespace agw
