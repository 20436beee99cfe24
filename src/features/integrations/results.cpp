#include "features/integrations/results.hpp"

#include <openssl/evp.h>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "models/picture.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

constexpr std::size_t max_blocks = 1000;
constexpr std::size_t max_pictures = 8;
constexpr std::size_t max_picture_bytes = std::size_t{5} * 1024 * 1024;

std::string resource_text(const json::object& resource) {
  const auto address = string_or_empty(resource, "uri");
  if (const auto text = string_member(resource, "text")) return fmt::format("[{}]\n{}", address, *text);
  return fmt::format("[{}: {} that is no text]", address, string_or_empty(resource, "mimeType"));
}

std::string block_text(const json::object& block) {
  const auto type = string_or_empty(block, "type");
  if (type == "text") return string_or_empty(block, "text");
  if (type == "resource_link") {
    return fmt::format("[{}: {}]", string_or_empty(block, "uri"), string_or_empty(block, "name"));
  }
  const auto* resource = block.if_contains("resource");
  if (type == "resource" && resource && resource->is_object()) return resource_text(resource->get_object());
  if (type == "image" || type == "audio") {
    const auto bytes = string_or_empty(block, "data").size() / 4 * 3;
    return fmt::format("[{}: {}, about {} bytes]", type, string_or_empty(block, "mimeType"), bytes);
  }
  return {};
}

/// The decoded bytes; empty if the text is not base64 or is too long.
std::string decoded(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > max_picture_bytes / 3 * 4) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const auto size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                    reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return {};
  const auto padding = text.ends_with("==") ? 2u : (text.ends_with('=') ? 1u : 0u);
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

std::vector<Image> pictures_of(const json::object& result) {
  std::vector<Image> pictures;
  const auto* content = array_member(result, "content");
  if (!content) return pictures;
  for (const auto& block : *content) {
    const auto* members = block.if_object();
    if (!members || pictures.size() == max_pictures || string_member(*members, "type") != "image") continue;
    Image picture{.mime = {}, .bytes = decoded(string_member(*members, "data").value_or(""))};
    picture.mime = mime_of_picture(picture.bytes);
    if (!picture.mime.empty()) pictures.push_back(std::move(picture));
  }
  return pictures;
}

std::string content_text(const json::object& result) {
  std::string text;
  const auto* content = array_member(result, "content");
  if (!content) return text;
  std::size_t blocks = 0;
  for (const auto& block : *content) {
    if (!block.is_object() || ++blocks > max_blocks) continue;
    const auto piece = block_text(block.get_object());
    if (piece.empty()) continue;
    if (!text.empty()) text += "\n";
    text += piece;
  }
  return text;
}

}  // namespace

bool needs_input(const json::object& result) { return string_member(result, "resultType") == "input_required"; }

ToolOutcome tool_outcome(const json::object& result) {
  if (needs_input(result)) return failed("the server asks for input that this gateway cannot give");
  auto text = content_text(result);
  const auto* structured = result.if_contains("structuredContent");
  if (text.empty() && structured && !structured->is_null()) text = to_json(*structured);
  return {.output = truncate_middle(text), .is_error = is_true(result, "isError"), .images = pictures_of(result)};
}

}  // namespace agw
