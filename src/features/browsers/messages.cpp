#include "features/browsers/messages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr int min_side = 100;
constexpr int max_side = 4096;
/// Of a position, a distance or a code.
constexpr double max_number = 100'000;
constexpr std::size_t max_key_name = 32;
constexpr int ctrl_alt_or_meta = 1 | 2 | 4;

int view_side(const json::object& message, std::string_view name) {
  const auto* value = message.if_contains(name);
  if (!value || !value->is_int64() || value->get_int64() < min_side || value->get_int64() > max_side)
    throw BadRequest(fmt::format("{} must be a whole number from {} to {}", name, min_side, max_side));
  return static_cast<int>(value->get_int64());
}

double number_in(const json::object& message, std::string_view name) {
  const auto* value = message.if_contains(name);
  if (!value) return 0;
  const auto number = value->is_number() ? value->to_number<double>() : max_number + 1;
  if (std::abs(number) > max_number)
    throw BadRequest(fmt::format("{} must be a number from -{} to {}", name, max_number, max_number));
  return number;
}

int whole_number_in(const json::object& message, std::string_view name) {
  return static_cast<int>(number_in(message, name));
}

/// The value among `allowed` pairs of what clients and DevTools call it.
template <std::size_t count>
std::string_view one_named(const json::object& message, std::string_view name,
                           const std::array<std::pair<std::string_view, std::string_view>, count>& allowed) {
  const auto value = string_member(message, name).value_or("");
  for (const auto& [ours, theirs] : allowed) {
    if (ours == value) return theirs;
  }
  std::string names;
  for (const auto& each : allowed) names += (names.empty() ? "" : ", ") + std::string(each.first);
  throw BadRequest(fmt::format("{} must be one of {}", name, names));
}

std::string_view button_of(const json::object& message) {
  using Names = std::array<std::pair<std::string_view, std::string_view>, 4>;
  static constexpr Names names{{{"left", "left"}, {"middle", "middle"}, {"right", "right"}, {"none", "none"}}};
  return message.contains("button") ? one_named(message, "button", names) : "none";
}

BrowserInput mouse_input(const json::object& message) {
  using Names = std::array<std::pair<std::string_view, std::string_view>, 4>;
  static constexpr Names names{
      {{"move", "mouseMoved"}, {"down", "mousePressed"}, {"up", "mouseReleased"}, {"wheel", "mouseWheel"}}};
  const auto type = one_named(message, "action", names);
  json::object params{{"type", type},
                      {"x", number_in(message, "x")},
                      {"y", number_in(message, "y")},
                      {"button", button_of(message)},
                      {"buttons", whole_number_in(message, "buttons")},
                      {"modifiers", whole_number_in(message, "modifiers")},
                      {"clickCount", whole_number_in(message, "clicks")}};
  if (type == "mouseWheel") {
    params["deltaX"] = number_in(message, "deltaX");
    params["deltaY"] = number_in(message, "deltaY");
  }
  return {"Input.dispatchMouseEvent", std::move(params), type == "mouseMoved"};
}

/// What a key types. Enter types it although its value has a name.
std::string key_text(const json::object& message, const std::string& key, int modifiers) {
  auto text = string_or_empty(message, "text");
  if (text.empty() && key == "Enter" && (modifiers & ctrl_alt_or_meta) == 0) text = "\r";
  return text;
}

BrowserInput key_input(const json::object& message) {
  using Names = std::array<std::pair<std::string_view, std::string_view>, 2>;
  static constexpr Names names{{{"down", "keyDown"}, {"up", "keyUp"}}};
  const auto action = one_named(message, "action", names);
  const auto key = string_or_empty(message, "key");
  const auto code = string_or_empty(message, "code");
  if (key.empty() || std::max(key.size(), code.size()) > max_key_name)
    throw BadRequest("key and code must be the values of a KeyboardEvent");
  const auto modifiers = whole_number_in(message, "modifiers");
  json::object params{{"type", action},
                      {"key", key},
                      {"code", code},
                      {"windowsVirtualKeyCode", whole_number_in(message, "keyCode")},
                      {"modifiers", modifiers}};
  if (action == "keyDown") {
    const auto text = key_text(message, key, modifiers);
    if (text.empty()) params["type"] = "rawKeyDown";
    if (!text.empty()) params["text"] = text;
  }
  return {"Input.dispatchKeyEvent", std::move(params)};
}

void take_tab(Browser& browser, const json::object& message) {
  const auto action = string_or_empty(message, "action");
  const auto id = string_or_empty(message, "id");
  if (action == "new") return browser.open_tab();
  if (action == "select") return browser.select_tab(id);
  if (action == "close") return browser.close_tab(id);
  throw BadRequest("action must be one of new, select, close");
}

void take_shown(Browser& browser, BrowserClient& client, const json::object& message) {
  const auto* seq = message.if_contains("seq");
  client.note_shown(seq && seq->is_int64() ? seq->get_int64() : 0);
  browser.note_shown();
}

}  // namespace

ViewSize view_size(const json::object& message) {
  return {.width = view_side(message, "width"), .height = view_side(message, "height")};
}

BrowserInput input_of(const json::object& message) {
  const auto type = string_or_empty(message, "type");
  if (type == "mouse") return mouse_input(message);
  if (type == "key") return key_input(message);
  if (type == "text") return {"Input.insertText", {{"text", string_or_empty(message, "text")}}};
  throw BadRequest("unknown message type");
}

void take_message(Browser& browser, BrowserClient& client, const json::object& message) {
  const auto type = string_or_empty(message, "type");
  if (type == "shown") return take_shown(browser, client, message);
  if (type == "resize") return browser.resize(view_size(message));
  if (type == "copy") return browser.copy(client);
  if (type == "inspect") return browser.inspect(client, number_in(message, "x"), number_in(message, "y"));
  if (type == "go") return browser.go(string_or_empty(message, "to"));
  if (type == "tab") return take_tab(browser, message);
  if (type == "dialog") return browser.answer_dialog(is_true(message, "accept"), string_or_empty(message, "text"));
  if (type == "allow") return browser.allow(string_or_empty(message, "host"));
  if (type == "close") return browser.end(BrowserEnd::closed);
  auto input = input_of(message);
  browser.send_input(std::move(input.method), std::move(input.params), input.is_droppable);
}

}  // namespace agw
