#pragma once

#include "api/route.hpp"

namespace agw {

class ClientApi;

/// OpenAI's API under `/v1`.
Routes openai_routes(ClientApi& api);

}  // namespace agw
