#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "features/extensions/types.hpp"
#include "io/http/web_request.hpp"

namespace agw {

/// Expands `${secret:NAME}`. Throws SecretError.
using ExpandSecrets = std::function<std::string(std::string_view text)>;

/// Why a call of an action is invalid, for the model.
struct ActionProblem {
  std::string text;
};

/// The request of an `http` action's call. Secrets are expanded first, so that the input cannot name any, and the input
/// cannot change the scheme, the host or the port, nor inject headers. Throws SecretError. Blocks if `expand` does.
std::variant<WebRequest, ActionProblem> http_action_request(const Extension& action, const json::object& input,
                                                            const ExpandSecrets& expand);

}  // namespace agw
