#include "features/threads/shared_transcript.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TranscriptTurn turn_of(Role role, std::string content, json::object metadata) {
  TranscriptTurn turn;
  turn.role = role;
  turn.content = std::move(content);
  turn.metadata = std::move(metadata);
  return turn;
}

TEST(SharedTranscript, HasOfToolsAndFilesOnlyNames) {
  Transcript transcript;
  transcript.thread.title = "On hunter22";
  transcript.turns = {
      turn_of(Role::tool, "output",
              {{"tool_name", "hunter22.read"}, {"input", json::object{{"path", "x"}}}, {"run_id", "r"}}),
      turn_of(Role::user, "My key is HUNTER22.",
              {{"attachments", json::array{json::object{{"id", "f"}, {"name", "hunter22.txt"}}, 7}}}),
      turn_of(Role::assistant, "Noted.", {{"reasoning", "Why?"}, {"superseded", true}})};
  FilledSecrets hidden;
  hidden.add("hunter22");
  const auto shared = for_others(std::move(transcript), hidden);
  EXPECT_EQ(shared.thread.title, "On [secret]");
  EXPECT_EQ(shared.turns[0].content, "");
  EXPECT_EQ(shared.turns[0].metadata, (json::object{{"tool_name", "[secret].read"}}));
  EXPECT_EQ(shared.turns[1].content, "My key is [secret].");
  EXPECT_EQ(shared.turns[1].metadata,
            (json::object{{"attachments", json::array{json::object{{"name", "[secret].txt"}}}}}));
  EXPECT_EQ(shared.turns[2].metadata, (json::object{{"superseded", true}}));
}

}  // namespace
}  // namespace agw
