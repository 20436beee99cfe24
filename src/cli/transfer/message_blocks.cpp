#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/transfer/conversation.hpp"

namespace agw::cli {

namespace {

/// Reads Anthropic's `source`, OpenClaw's `data` and `mimeType`, or an address in one of OpenAI's two forms.
std::optional<SourceFile> file_of(const json::object& block) {
  auto source = object_or_empty(block, "source");
  if (source.empty() && block.contains("data"))
    source = {{"media_type", string_or_empty(block, "mimeType")}, {"data", string_or_empty(block, "data")}};
  auto url = fmt::format("data:{};base64,{}", string_or_empty(source, "media_type"), string_or_empty(source, "data"));
  if (source.empty()) url = string_or_empty(block, "image_url");
  if (url.empty()) url = string_or_empty(object_or_empty(block, "image_url"), "url");
  auto name = string_or_empty(block, "title");
  return file_in_url(name.empty() ? "picture" : std::move(name), url);
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
    message.calls.push_back({std::move(id), string_or_empty(block, "name"), object_or_empty(block, "input")});
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

void read_blocks(const json::array& blocks, SourceMessage& message) {
  for (const auto& block : blocks) {
    if (block.is_object()) read_block(block.get_object(), message);
  }
}

}  // namespace agw::cli
