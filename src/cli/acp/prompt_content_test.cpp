#include "cli/acp/prompt_content.hpp"

#include <gtest/gtest.h>

#include "cli/acp/rpc_peer.hpp"

namespace agw::cli {
namespace {

PromptContent content_of(std::string_view blocks) { return prompt_content(parse_json(blocks)->as_array()); }

TEST(PromptContent, KeepsTextsAndLinksInOrder) {
  const auto prompt = content_of(R"([{"type": "text", "text": "See "},
                               {"type": "resource_link", "name": "a.c", "uri": "file:///src/a.c"},
                               {"type": "text", "text": " first"}])");
  EXPECT_EQ(prompt.text, "See [@a.c](<file:///src/a.c>) first");
  EXPECT_TRUE(prompt.files.empty());
}

TEST(PromptContent, AttachesPicturesAndResources) {
  const auto prompt = content_of(R"([{"type": "image", "mimeType": "image/png", "data": "AAECAw=="},
                               {"type": "resource", "resource": {"uri": "file:///notes.md", "text": "notes"}},
                               {"type": "resource", "resource": {"uri": "x:y", "blob": "AAE="}}])");
  ASSERT_EQ(prompt.files.size(), 3U);
  EXPECT_EQ(prompt.files[0].bytes, std::string("\0\1\2\3", 4));
  EXPECT_EQ(prompt.files[0].type, "image/png");
  EXPECT_EQ(prompt.files[1].name, "notes.md");
  EXPECT_EQ(prompt.files[1].bytes, "notes");
  EXPECT_EQ(prompt.files[2].type, "application/octet-stream");
  EXPECT_EQ(prompt.files[2].bytes, std::string("\0\1", 2));
}

TEST(PromptContent, AMediaTypeCannotEndAHeader) {
  const auto prompt = content_of(R"([{"type": "image", "mimeType": "a/b\r\nX-Y: z", "data": ""}])");
  EXPECT_EQ(prompt.files[0].type, "application/octet-stream");
}

TEST(PromptContent, ALinkCannotEndItself) {
  const auto prompt = content_of(R"([{"type": "resource_link", "name": "a](b\nc", "uri": "x:> [1]"}])");
  EXPECT_EQ(prompt.text, "[@a(b c](<x:%3E%20[1]>)");
}

TEST(PromptContent, RefusesInvalidPrompts) {
  for (const auto* blocks : {"[]", R"([{"type": "text", "text": " "}])", "[7]", R"([{"type": "text"}])",
                             R"([{"type": "audio", "data": "", "mimeType": "audio/wav"}])", R"([{"type": "resource"}])",
                             R"([{"type": "image", "mimeType": "image/png", "data": "A"}, {"type": "other"}])"}) {
    EXPECT_THROW(content_of(blocks), RpcError) << blocks;
  }
}

}  // namespace
}  // namespace agw::cli
