#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// What a service requires back with an answer. Anthropic's own blocks go to programs as they are; those of other
/// services as the signature of a thinking block, which programs send back unread.
struct ServiceBlocks {
  std::string model;  ///< `<service>/<model>` that made them, as the program named it
  json::array blocks;
};

/// Whether it is a thinking block of Anthropic's, which programs may read.
bool is_thinking_block(const json::value& block);

/// The blocks as a signature.
std::string to_signature(const ServiceBlocks& blocks);
/// The blocks in a signature of `to_signature`; nullopt for one of Anthropic's.
std::optional<ServiceBlocks> from_signature(std::string_view signature);

}  // namespace agw
