#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// The blocks that a service requires back with an answer. Programs get Anthropic's own blocks as they are, and those
/// of other services as the signature of a thinking block, which they send back unread.
struct ServiceBlocks {
  std::string model;  ///< the `<service>/<model>` that made them, as the program named it
  json::array blocks;
};

/// Whether it is a thinking block of Anthropic's, which programs may read.
bool is_thinking_block(const json::value& block);

/// The blocks as a signature.
std::string to_signature(const ServiceBlocks& blocks);
/// The blocks in a signature of `to_signature`; nullopt for one of Anthropic's.
std::optional<ServiceBlocks> from_signature(std::string_view signature);

}  // namespace agw
