#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "features/extensions/types.hpp"
#include "io/http/web_request.hpp"

namespace agw {

/// Replaces `${secret:NAME}`. Throws SecretError.
using ExpandSecrets = std::function<std::string(std::string_view text)>;

/// Why an action cannot be called like that, for the model.
struct ActionProblem {
  std::string text;
};

/// The request that a call of an `http` action makes. Secrets are filled in first, so that the input can name none, and
/// the input cannot change the scheme, the host or the port, nor break a header. Throws SecretError. Blocks where
/// `expand` does.
std::variant<WebRequest, ActionProblem> http_action_request(const Extension& action, const json::object& input,
                                                            const ExpandSecrets& expand);

}  // namespace agw
