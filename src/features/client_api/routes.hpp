#pragma once

#include "api/route.hpp"

namespace agw {

class ClientApi;

/// OpenAI's API under `/v1`.
Routes openai_routes(ClientApi& api);
/// Anthropic's API under `/v1`.
Routes anthropic_routes(ClientApi& api);

}  // namespace agw
