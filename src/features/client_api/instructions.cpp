#include "features/client_api/instructions.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/text/ascii.hpp"

namespace agw {

namespace {

bool is_instruction(const Message& message) { return message.role == Message::Role::system; }

void add_paragraph(std::string& text, std::string_view paragraph) {
  if (!text.empty() && !paragraph.empty()) text += "\n\n";
  text += paragraph;
}

}  // namespace

void add_instructions(ModelRequest& call, std::string_view text) {
  if (call.messages.empty()) return add_paragraph(call.system, text);
  if (is_blank(text)) return;
  if (!is_instruction(call.messages.back())) call.messages.push_back({.role = Message::Role::system});
  add_paragraph(call.messages.back().text, text);
}

std::vector<Message> with_instructions_after_results(std::vector<Message> messages) {
  if (std::ranges::none_of(messages, is_instruction)) return messages;
  std::vector<Message> all;
  std::string held;
  const auto release = [&] {
    if (!held.empty()) all.push_back({.role = Message::Role::system, .text = std::exchange(held, {})});
  };
  for (auto& message : messages) {
    if (is_instruction(message)) {
      add_paragraph(held, message.text);
      continue;
    }
    if (message.role != Message::Role::tool) release();
    all.push_back(std::move(message));
  }
  release();
  return all;
}

void join_instructions(ClientRequest& request) {
  auto& messages = request.call.messages;
  for (auto& picture : request.pictures) {
    const auto before = std::span(messages).first(picture.message);
    picture.message -= static_cast<std::size_t>(std::ranges::count_if(before, is_instruction));
  }
  for (const auto& message : messages) {
    if (is_instruction(message)) add_paragraph(request.call.system, message.text);
  }
  std::erase_if(messages, is_instruction);
}

}  // namespace agw
