#include "features/client_api/instructions.hpp"

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "features/client_api/anthropic_messages.hpp"
#include "features/client_api/chat_completions.hpp"
#include "features/client_api/responses.hpp"

namespace agw {
namespace {

/// The system prompt, then the messages: `u:Hi s:Be brief`.
std::string outline(const ModelRequest& call) {
  std::string text = call.system;
  for (const auto& message : call.messages) {
    constexpr std::string_view initials = "uats";  // in the order of Message::Role
    const auto role = initials.at(static_cast<std::size_t>(message.role));
    text += fmt::format(" {}:{}", role, message.text);
  }
  return text;
}

constexpr auto conversation = R"([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"},
    {"role": "system", "content": "It is noon."}, {"role": "system", "content": "Be brief."},
    {"role": "assistant", "content": "Hello."}, {"role": "system", "content": " "}, {"role": "user", "content": "And?"}])";
constexpr auto outline_of_conversation = "Be kind. u:Hi s:It is noon.\n\nBe brief. a:Hello. u:And?";

TEST(Instructions, StayWhereTheyAreInEachProtocol) {
  const auto messages = parse_json(conversation).value();
  EXPECT_EQ(outline(read_chat_completion({{"model", "a/b"}, {"messages", messages}}).request.call),
            outline_of_conversation);
  EXPECT_EQ(
      outline(read_anthropic_messages({{"model", "a/b"}, {"max_tokens", 9}, {"messages", messages}}).request.call),
      outline_of_conversation);
  auto response = read_response_request({{"model", "a/b"}, {"input", messages}});
  add_input(response.request, response.input);
  EXPECT_EQ(outline(response.request.call), outline_of_conversation);
}

TEST(Instructions, FollowTheResultsOfCallsBeforeThem) {
  ModelRequest call;
  call.messages = {{.text = "Look"},
                   {.role = Message::Role::assistant, .text = "calls"},
                   {.role = Message::Role::system, .text = "one"},
                   {.role = Message::Role::tool, .text = "first"},
                   {.role = Message::Role::system, .text = "two"},
                   {.role = Message::Role::tool, .text = "second"},
                   {.role = Message::Role::assistant, .text = "Done"},
                   {.role = Message::Role::system, .text = "three"}};
  call.messages = with_instructions_after_results(std::move(call.messages));
  EXPECT_EQ(outline(call), " u:Look a:calls t:first t:second s:one\n\ntwo a:Done s:three");
}

TEST(Instructions, JoinTheSystemPromptOfAgents) {
  ClientRequest request;
  request.call.system = "Be kind.";
  request.call.messages = {{.text = "Hi"},
                           {.role = Message::Role::system, .text = "one"},
                           {.role = Message::Role::assistant, .text = "Hello"},
                           {.role = Message::Role::system, .text = "two"},
                           {.text = "Look", .images = {{}}}};
  request.pictures = {{.message = 4, .image = 0, .url = "https://example.org/a.png", .param = "p"}};
  join_instructions(request);
  EXPECT_EQ(outline(request.call), "Be kind.\n\none\n\ntwo u:Hi a:Hello u:Look");
  EXPECT_EQ(request.pictures.front().message, 2U);
}

}  // namespace
}  // namespace agw
