#pragma once

#include "base/json/json.hpp"

namespace agw {

/// The result of `elicitation/create`: what a server asks of the person who uses its client. Nobody watches an agent's
/// tools, so that nothing of a person's is ever said: a form is accepted only as the server itself has filled it in,
/// where each field that it requires has a default (SEP-1034), and everything else is declined.
json::object elicited(const json::object& params);

}  // namespace agw
