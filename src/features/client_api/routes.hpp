#pragma once

#include "api/route.hpp"

namespace agw {

class ClientApi;

/// All under `/v1`.
Routes client_api_routes(ClientApi& api);

// The parts of it.

Routes openai_routes(ClientApi& api);
/// OpenAI's Responses.
Routes response_routes(ClientApi& api);
Routes anthropic_routes(ClientApi& api);

}  // namespace agw
