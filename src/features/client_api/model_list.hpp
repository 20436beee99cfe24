#pragma once

#include <string>

#include "api/client_errors.hpp"
#include "api/response.hpp"
#include "features/client_api/service.hpp"

namespace agw {

/// `GET /v1/models`: the agents that are enabled, then the models of all services, in the shape of the protocol.
Response list_client_models(const ClientServices& services, Protocol protocol);
/// `GET /v1/models/:id`. Throws ApiError 404.
Response show_client_model(const ClientServices& services, const std::string& id, Protocol protocol);

}  // namespace agw
