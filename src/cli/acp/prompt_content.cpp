#include "cli/acp/prompt_content.hpp"

#include <openssl/evp.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "base/text/ascii.hpp"
#include "cli/acp/rpc_peer.hpp"

namespace agw::cli {

namespace {

constexpr std::size_t max_name = 100;

[[noreturn]] void refuse(const std::string& why) { throw RpcError(acp_code::invalid_params, why); }

std::string required_string(const json::object& block, std::string_view name) {
  const auto text = string_member(block, name);
  if (!text) refuse(fmt::format("prompt: {} of a block is a string", name));
  return std::string(*text);
}

/// A media type that is valid in a header.
std::string media_type(std::string text) {
  constexpr std::size_t max_length = 100;
  const bool is_one = !text.empty() && text.size() <= max_length &&
                      std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f' && c != '"'; });
  return is_one ? text : "application/octet-stream";
}

std::string from_base64(const std::string& text) {
  constexpr int group = 4, bytes_per_group = 3;
  std::string bytes(text.size() / group * bytes_per_group, '\0');
  const auto size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),       // NOLINT
                                    reinterpret_cast<const unsigned char*>(text.data()),  // NOLINT
                                    static_cast<int>(text.size()));
  if (size < 0) refuse("prompt: data that is not base64");
  const auto padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(std::max(0, size - padding)));
  return bytes;
}

/// The last segment of a URI, as the name of a link.
std::string name_in(const std::string& uri) {
  auto name = std::string_view(uri).substr(0, uri.find_first_of("?#"));
  while (name.ends_with('/')) name.remove_suffix(1);
  name.remove_prefix(name.rfind('/') + 1);
  return name.empty() ? "resource" : one_line(name, max_name);
}

/// A link whose text cannot close it and whose address contains no spaces.
std::string link(std::string name, const std::string& uri) {
  std::erase_if(name, [](char c) { return c == '[' || c == ']'; });
  std::string address;
  for (const char c : uri) {
    if (c == ' ' || c == '<' || c == '>' || static_cast<unsigned char>(c) < ' ')
      address += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      address += c;
  }
  return fmt::format("[@{}](<{}>)", name, address);
}

void add_resource(PromptContent& prompt, const json::object& block) {
  const auto* resource = object_member(block, "resource");
  if (!resource) refuse("prompt: resource of a block is an object");
  const auto uri = required_string(*resource, "uri");
  const auto name = name_in(uri);
  prompt.text += link(name, uri);
  if (const auto text = string_member(*resource, "text")) {
    prompt.files.push_back({name, "text/plain", std::string(*text)});
  } else {
    prompt.files.push_back(
        {name, media_type(string_or_empty(*resource, "mimeType")), from_base64(required_string(*resource, "blob"))});
  }
}

void add_picture(PromptContent& prompt, const json::object& block) {
  const auto uri = string_or_empty(block, "uri");
  const auto name = uri.empty() ? fmt::format("picture-{}", prompt.files.size() + 1) : name_in(uri);
  prompt.files.push_back(
      {name, media_type(required_string(block, "mimeType")), from_base64(required_string(block, "data"))});
}

void add(PromptContent& prompt, const json::value& value) {
  const auto* block = value.if_object();
  if (!block) refuse("prompt: a block is an object");
  const auto type = required_string(*block, "type");
  if (type == "text")
    prompt.text += required_string(*block, "text");
  else if (type == "resource_link")
    prompt.text += link(one_line(required_string(*block, "name"), max_name), required_string(*block, "uri"));
  else if (type == "resource")
    add_resource(prompt, *block);
  else if (type == "image")
    add_picture(prompt, *block);
  else
    refuse(fmt::format("prompt: a block of type {} is not supported", one_line(type, max_name)));
}

}  // namespace

PromptContent prompt_content(const json::array& blocks) {
  PromptContent prompt;
  for (const auto& block : blocks) add(prompt, block);
  if (is_blank(prompt.text) && prompt.files.empty()) refuse("prompt: it is empty");
  if (is_blank(prompt.text)) prompt.text = prompt.files.front().name;
  return prompt;
}

}  // namespace agw::cli
