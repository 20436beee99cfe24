#include "features/browsers/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/socket_messages.hpp"

namespace agw {
namespace {

json::object message(std::string_view text) { return parse_message(text); }

std::string refusal_of(std::string_view text) {
  try {
    input_of(message(text));
  } catch (const BadRequest& error) {
    return error.error();
  }
  return {};
}

TEST(BrowserMessages, MoveTheMouse) {
  const auto input = input_of(message(R"({"type": "mouse", "action": "move", "x": 1.5, "y": 2, "buttons": 1})"));
  EXPECT_EQ(input.method, "Input.dispatchMouseEvent");
  EXPECT_TRUE(input.is_droppable);
  EXPECT_EQ(input.params.at("type"), "mouseMoved");
  EXPECT_EQ(input.params.at("x"), 1.5);
  EXPECT_EQ(input.params.at("buttons"), 1);
}

TEST(BrowserMessages, TurnTheWheel) {
  const auto input = input_of(message(R"({"type": "mouse", "action": "wheel", "x": 1, "y": 2, "deltaY": -120})"));
  EXPECT_FALSE(input.is_droppable);
  EXPECT_EQ(input.params.at("deltaY"), -120.0);
  EXPECT_EQ(input.params.at("deltaX"), 0.0);
}

TEST(BrowserMessages, TypeKeys) {
  const auto letter =
      input_of(message(R"({"type": "key", "action": "down", "key": "a", "code": "KeyA", "text": "a"})"));
  EXPECT_EQ(letter.params.at("type"), "keyDown");
  EXPECT_EQ(letter.params.at("text"), "a");
  const auto arrow = input_of(message(R"({"type": "key", "action": "down", "key": "ArrowUp", "code": "ArrowUp"})"));
  EXPECT_EQ(arrow.params.at("type"), "rawKeyDown");
  const auto enter = input_of(message(R"({"type": "key", "action": "down", "key": "Enter", "code": "Enter"})"));
  EXPECT_EQ(enter.params.at("text"), "\r");
  const auto chord =
      input_of(message(R"({"type": "key", "action": "down", "key": "Enter", "code": "Enter", "modifiers": 2})"));
  EXPECT_FALSE(chord.params.contains("text"));
}

TEST(BrowserMessages, MustBeComplete) {
  EXPECT_EQ(refusal_of(R"({"type": "mouse", "action": "jump"})"), "action must be one of move, down, up, wheel");
  EXPECT_EQ(refusal_of(R"({"type": "mouse", "action": "down", "button": "fourth"})"),
            "button must be one of left, middle, right, none");
  EXPECT_EQ(refusal_of(R"({"type": "mouse", "action": "move", "x": 1e9})"),
            "x must be a number from -100000 to 100000");
  EXPECT_EQ(refusal_of(R"({"type": "mouse", "action": "move", "x": "1"})"),
            "x must be a number from -100000 to 100000");
  EXPECT_EQ(refusal_of(R"({"type": "key", "action": "down"})"), "key and code must be the values of a KeyboardEvent");
  EXPECT_EQ(refusal_of(R"({"type": "dance"})"), "unknown message type");
}

TEST(BrowserMessages, HaveASizeInLimits) {
  EXPECT_EQ(view_size(message(R"({"width": 100, "height": 4096})")), (ViewSize{.width = 100, .height = 4096}));
  EXPECT_THROW(view_size(message(R"({"width": 99, "height": 4096})")), BadRequest);
  EXPECT_THROW(view_size(message(R"({"width": 100.5, "height": 200})")), BadRequest);
}

TEST(WebAddress, GetsASchemeIfItHasNone) {
  EXPECT_EQ(web_address("example.org"), "https://example.org");
  EXPECT_EQ(web_address(" example.org:8443/a?b=http://c \n"), "https://example.org:8443/a?b=http://c");
  EXPECT_EQ(web_address("localhost:5173/x"), "http://localhost:5173/x");
  EXPECT_EQ(web_address("app.localhost"), "http://app.localhost");
  EXPECT_EQ(web_address("127.0.0.1"), "http://127.0.0.1");
  EXPECT_EQ(web_address("[::1]:80/"), "http://[::1]:80/");
  EXPECT_EQ(web_address("HTTPS://example.org"), "HTTPS://example.org");
  EXPECT_EQ(web_address("about:blank"), "about:blank");
}

TEST(WebAddress, IsOfTheWeb) {
  for (const auto* text : {"", "  ", "file:///etc/passwd", "chrome://version", "javascript:alert(1)",
                           "data:text/html,x", "view-source:http://example.org", "about:srcdoc"})
    EXPECT_THROW(web_address(text), BadRequest) << text;
}

}  // namespace
}  // namespace agw
