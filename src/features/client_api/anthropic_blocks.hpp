#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// The blocks of an answer that its service requires back. Programs get Anthropic's own blocks unchanged, and those of
/// other services as the signature of a thinking block, which they send back without interpreting it.
struct ServiceBlocks {
  std::string model;  ///< the `<service>/<model>` that made them, with the name that the program used
  json::array blocks;
};

/// Whether `block` is one of Anthropic's own thinking blocks.
bool is_thinking_block(const json::value& block);

/// Encodes the blocks as a signature.
std::string to_signature(const ServiceBlocks& blocks);
/// Decodes a signature made by `to_signature`; no value for one of Anthropic's own.
std::optional<ServiceBlocks> from_signature(std::string_view signature);

}  // namespace agw
