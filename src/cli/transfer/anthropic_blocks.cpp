#include "cli/transfer/anthropic_blocks.hpp"

#include <fmt/format.h>

#include "base/json/json_values.hpp"

namespace agw::cli {

namespace {

void append(std::string& text, std::string_view piece) {
  if (piece.empty()) return;
  if (!text.empty()) text += "\n\n";
  text += piece;
}

std::string result_text(const json::object& block) {
  if (const auto text = string_member(block, "content")) return std::string(*text);
  SourceMessage inner;
  if (const auto* blocks = array_member(block, "content")) read_blocks(*blocks, inner);
  return inner.text;
}

void read_block(const json::object& block, SourceMessage& message) {
  const auto type = string_or_empty(block, "type");
  if (type == "text") {
    append(message.text, string_or_empty(block, "text"));
  } else if (type == "thinking") {
    append(message.reasoning, string_or_empty(block, "thinking"));
  } else if (type == "tool_use" || type == "server_tool_use") {
    auto id = string_or_empty(block, "id");
    if (id.empty()) id = fmt::format("{}/{}", message.id, message.calls.size());
    message.calls.push_back({std::move(id), string_or_empty(block, "name"), object_or_empty(block, "input")});
  } else if (type.ends_with("tool_result")) {
    auto id = string_or_empty(block, "tool_use_id");
    // Claude's own exports have the results in the message of the calls, in their order, and may lack ids.
    if (id.empty() && message.results.size() < message.calls.size()) id = message.calls[message.results.size()].id;
    message.results.push_back({std::move(id), result_text(block), is_true(block, "is_error")});
  } else if (type == "image" || type == "image_url" || type == "document") {
    append(message.text, type == "document" ? "[document]" : "[picture]");
  }
}

}  // namespace

void read_blocks(const json::array& blocks, SourceMessage& message) {
  for (const auto& block : blocks) {
    if (block.is_object()) read_block(block.get_object(), message);
  }
}

}  // namespace agw::cli
