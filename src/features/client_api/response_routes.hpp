#pragma once

#include "api/route.hpp"

namespace agw {

class ClientApi;

/// OpenAI's Responses: `/v1/responses`.
Routes response_routes(ClientApi& api);

}  // namespace agw
