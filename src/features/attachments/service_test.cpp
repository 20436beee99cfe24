#include "features/attachments/service.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "features/attachments/store.hpp"
#include "models/model.hpp"
#include "storage/database.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw {
namespace {

namespace fs = std::filesystem;
using namespace testing::extensions;

void with_attachment_fixture(std::function<Task<>(Attachments&, const fs::path& data)> body) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    ExtensionsFixture fixture(loop, directory);
    BlockingPool blocking(loop);
    Attachments attachments(blocking, fixture.database, fixture.clock, directory.path());
    co_await body(attachments, directory.path());
  });
}

TEST(Attachments, KeepBytesAsPrivateFiles) {
  with_attachment_fixture([](Attachments& attachments, const fs::path& data) -> Task<> {
    const std::string bytes("a\0b\xff", 4);
    const auto made = co_await attachments.add("notes.txt", "text/plain", bytes);
    EXPECT_EQ(made.name, "notes.txt");
    EXPECT_EQ(made.mime, "text/plain");
    EXPECT_EQ(made.size, 4);
    EXPECT_EQ(co_await attachments.bytes(made), bytes);
    EXPECT_EQ(fs::file_size(data / "attachments" / made.id), 4u);
    EXPECT_EQ(fs::status(data / "attachments").permissions(), fs::perms::owner_all);
  });
}

TEST(Attachments, LeaveNoFileIfTheDiskIsTooFullForTheRecord) {
  with_attachment_fixture([](Attachments& attachments, const fs::path& data) -> Task<> {
    bool is_refused = false;
    try {
      co_await attachments.add("a", "", "x", [&](Connection&, const Attachment& made) {
        EXPECT_TRUE(fs::exists(data / "attachments" / made.id));
        throw DiskFull(SQLITE_FULL, "database or disk is full");
      });
    } catch (const DiskFull&) {
      is_refused = true;
    }
    EXPECT_TRUE(is_refused);
    EXPECT_TRUE(fs::is_empty(data / "attachments"));
  });
}

TEST(Attachments, TakeTheirTypeFromAValidHeader) {
  with_attachment_fixture([](Attachments& attachments, const fs::path&) -> Task<> {
    EXPECT_EQ((co_await attachments.add("a", "Text/Plain; charset=utf-8", "x")).mime, "text/plain");
    EXPECT_EQ((co_await attachments.add("a", "image/svg+xml", "x")).mime, "image/svg+xml");
    for (const std::string bad : {"", "text", "/plain", "text/", "te xt/plain", "a/b/c"}) {
      EXPECT_EQ((co_await attachments.add("a", bad, "x")).mime, "application/octet-stream") << bad;
    }
  });
}

TEST(Attachments, AreFoundInTheOrderOfTheirIds) {
  with_attachment_fixture([](Attachments& attachments, const fs::path&) -> Task<> {
    const auto a = co_await attachments.add("a", "", "x");
    const auto b = co_await attachments.add("b", "", "x");
    const auto found = co_await attachments.require({b.id, a.id});
    EXPECT_EQ(found.at(0).name + found.at(1).name, "ba");
    EXPECT_EQ((co_await attachments.find({a.id, "unknown"})).size(), 1u);
    EXPECT_EQ(co_await failure(attachments.require({a.id, "unknown"})), "404 file not found");
  });
}

TEST(Attachments, HaveNamesOfOneLine) {
  with_attachment_fixture([](Attachments& attachments, const fs::path& data) -> Task<> {
    EXPECT_EQ(co_await failure(attachments.add("a\nb", "", "x")), "400 invalid name: a\nb");
    EXPECT_EQ((co_await failure(attachments.add(std::string(256, 'x'), "", "x"))).substr(0, 16), "400 invalid name");
    const auto made = co_await attachments.add("../../etc/passwd", "", "x");
    EXPECT_TRUE(fs::exists(data / "attachments" / made.id)) << "the name is only a label";
  });
}

TEST(Attachments, LackOnlyTheMissingFile) {
  with_attachment_fixture([](Attachments& attachments, const fs::path& data) -> Task<> {
    const auto made = co_await attachments.add("a", "", "x");
    fs::remove(data / "attachments" / made.id);
    fs::create_symlink("/etc/passwd", data / "attachments" / made.id);
    EXPECT_EQ(co_await attachments.bytes(made), std::nullopt);
  });
}

std::vector<Image> screenshots(std::size_t count, std::size_t size = 10) {
  std::vector<Image> images(count);
  for (auto& image : images) image.bytes = "\x89PNG\r\n" + std::string(size - 6, 'x');
  return images;
}

TEST(Attachments, AreSoManyAndSoLargePicturesPerCall) {
  with_attachment_fixture([](Attachments& attachments, const fs::path&) -> Task<> {
    EXPECT_EQ((co_await attachments.add_pictures("chat", "camera", screenshots(9))).size(), max_call_pictures);
    const auto too_large = 5 * 1024 * 1024 + 1;
    EXPECT_TRUE((co_await attachments.add_pictures("chat", "camera", screenshots(1, too_large))).empty());
  });
}

TEST(Attachments, ShareTheBytesOfEqualPicturesOfAThread) {
  with_attachment_fixture([](Attachments& attachments, const fs::path& data) -> Task<> {
    auto images = screenshots(2);
    images.push_back({.mime = "image/png", .bytes = "\x89PNG\r\nyyyy"});
    const auto names_of = [&](const Attachment& made) { return fs::hard_link_count(data / "attachments" / made.id); };
    auto made = co_await attachments.add_pictures("chat", "camera", images);
    const auto again = co_await attachments.add_pictures("chat", "camera", images);
    const auto elsewhere = co_await attachments.add_pictures("other", "camera", images);
    EXPECT_EQ(names_of(made[0]), 4u);
    EXPECT_EQ(names_of(made[2]), 2u);
    EXPECT_EQ(names_of(elsewhere[0]), 2u);
    fs::remove(data / "attachments" / made[0].id);
    for (std::size_t i = 0; i < images.size(); ++i)
      EXPECT_EQ(co_await attachments.bytes(again[i]), images[i].bytes) << "deleting one leaves the others";
  });
}

TEST(AttachmentStore, KeepsTheNewestPicturesOfAThread) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    ExtensionsFixture fixture(loop, directory);
    co_await fixture.database.write([](Connection& connection) {
      for (const std::string id : {"a", "b", "c", "d"})
        attachment_store::insert_picture(connection, "chat", {id, "x.png", "image/png", 10}, Timestamp());
      attachment_store::insert_picture(connection, "other", {"0", "x.png", "image/png", 10}, Timestamp());
      attachment_store::copy_pictures(connection, "chat", "fork");
      attachment_store::trim_pictures(connection, "chat", 3, 1000);
      EXPECT_TRUE(attachment_store::find(connection, "a")) << "the fork has it";
      attachment_store::trim_pictures(connection, "fork", 3, 1000);
      EXPECT_FALSE(attachment_store::find(connection, "a"));
      for (const auto* thread : {"chat", "fork"}) attachment_store::trim_pictures(connection, thread, 3, 29);
      EXPECT_FALSE(attachment_store::find(connection, "b"));
      for (const auto* id : {"0", "c", "d"}) EXPECT_TRUE(attachment_store::find(connection, id)) << id;
      EXPECT_EQ(attachment_store::unused(connection), (std::vector<std::string>{"a", "b"}));
    });
  });
}

TEST(Attachments, HaveTheTypeOfTheirBytesIfToolsReturnThem) {
  with_attachment_fixture([](Attachments& attachments, const fs::path&) -> Task<> {
    std::vector<Image> images{{.mime = "image/png", .bytes = "<svg/>"}, {.mime = "text/plain", .bytes = "GIF89a"}};
    const auto made = co_await attachments.add_pictures("chat", "camera", std::move(images));
    EXPECT_EQ(made.size(), 1u);
    EXPECT_EQ(made.front().name, "camera.gif");
    EXPECT_EQ(made.front().mime, "image/gif");
  });
}

}  // namespace
}  // namespace agw
