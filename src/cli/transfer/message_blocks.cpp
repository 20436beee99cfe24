#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/transfer/conversation.hpp"

namespace agw::cli {

namespace {

/// Reads Anthropic's `source`, OpenClaw's `data` and `mimeType`, or an address in one of OpenAI's two forms.
std::optional<SourceFile> file_of(const json::object& block) {
  auto name = string_or_empty(block, "title");
  if (name.empty()) name = string_or_empty(block, "type") == "document" ? "document" : "picture";
  const auto text = [](const json::object& from, std::string_view member) {
    return string_member(from, member).value_or("");
  };
  if (const auto* source = object_member(block, "source"); source && !source->empty()) {
    if (text(*source, "type") == "text")
      return SourceFile{std::move(name), std::string(text(*source, "media_type")), std::string(text(*source, "data"))};
    return file_of_base64(std::move(name), text(*source, "media_type"), text(*source, "data"));
  }
  if (block.contains("data")) return file_of_base64(std::move(name), text(block, "mimeType"), text(block, "data"));
  const auto* address = object_member(block, "image_url");
  return file_in_url(std::move(name), address ? text(*address, "url") : text(block, "image_url"));
}

/// Files in a result become files of its message.
std::string result_text(const json::object& block, SourceMessage& message) {
  if (const auto text = string_member(block, "content")) return std::string(*text);
  SourceMessage inner;
  if (const auto* blocks = array_member(block, "content")) read_blocks(*blocks, inner);
  std::ranges::move(inner.files, std::back_inserter(message.files));
  std::ranges::move(inner.unknown, std::back_inserter(message.unknown));
  return inner.text;
}

void read_block(const json::object& block, SourceMessage& message) {
  const auto type = string_or_empty(block, "type");
  if (type == "text" || type == "input_text" || type == "output_text") {
    add_paragraph(message.text, string_or_empty(block, "text"));
  } else if (type == "thinking") {
    add_paragraph(message.reasoning, string_or_empty(block, "thinking"));
  } else if (type == "tool_use" || type == "server_tool_use") {
    auto id = string_or_empty(block, "id");
    if (id.empty()) id = fmt::format("{}/{}", message.id, message.calls.size());
    message.calls.push_back(
        {std::move(id), string_or_empty(block, "name"), object_or_empty(block, "input"), message.text.size()});
  } else if (type.ends_with("tool_result")) {
    auto id = string_or_empty(block, "tool_use_id");
    // Claude's own exports contain results in the message of the calls, in the same order, and may lack ids.
    if (id.empty() && message.results.size() < message.calls.size()) id = message.calls[message.results.size()].id;
    auto text = result_text(block, message);
    message.results.push_back({std::move(id), std::move(text), is_true(block, "is_error")});
  } else if (type == "image" || type == "image_url" || type == "input_image" || type == "document") {
    if (auto file = file_of(block))
      message.files.push_back(*std::move(file));
    else
      add_paragraph(message.text, type == "document" ? "[document]" : "[picture]");
  } else {
    message.unknown.push_back(type);
  }
}

}  // namespace

void read_blocks(std::span<const json::value> blocks, SourceMessage& message) {
  for (const auto& block : blocks) {
    if (block.is_object()) read_block(block.get_object(), message);
  }
}

}  // namespace agw::cli
