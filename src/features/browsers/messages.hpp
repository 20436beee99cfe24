#pragma once

#include <string>

#include "base/json/json.hpp"
#include "features/browsers/browser.hpp"

namespace agw {

/// Does what a client's message asks for. Throws ApiError.
/// Example: src/features/browsers/messages_test.cpp: BrowserMessages.MoveTheMouse
void take_message(Browser& browser, BrowserClient& client, const json::object& message);

/// The size in a message. Throws BadRequest.
ViewSize view_size(const json::object& message);

/// A command of the DevTools protocol.
struct BrowserInput {
  std::string method;
  json::object params;
  bool is_droppable = false;
};
/// The command for a message of the type `mouse`, `key` or `text`. Throws BadRequest.
BrowserInput input_of(const json::object& message);

}  // namespace agw
