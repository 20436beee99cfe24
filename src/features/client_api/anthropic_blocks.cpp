#include "features/client_api/anthropic_blocks.hpp"

#include <utility>

#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr std::string_view mark = "agent-gateway:";

}  // namespace

bool is_thinking_block(const json::value& block) {
  const auto* object = block.if_object();
  const auto type = object ? string_member(*object, "type") : std::nullopt;
  return type == "thinking" || type == "redacted_thinking";
}

std::string to_signature(const ServiceBlocks& blocks) {
  return std::string(mark) + to_json(json::object{{"model", blocks.model}, {"blocks", blocks.blocks}});
}

std::optional<ServiceBlocks> from_signature(std::string_view signature) {
  if (!signature.starts_with(mark)) return std::nullopt;
  ServiceBlocks read;
  const auto parsed = parse_json(signature.substr(mark.size()));
  if (const auto* object = parsed ? parsed->if_object() : nullptr) {
    read.model = string_or_empty(*object, "model");
    if (const auto* blocks = array_member(*object, "blocks")) read.blocks = *blocks;
  }
  return read;
}

}  // namespace agw
