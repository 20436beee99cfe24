#pragma once

#include <optional>
#include <string>

#include "api/client_errors.hpp"
#include "api/response.hpp"
#include "base/json/described.hpp"
#include "features/client_api/service.hpp"

namespace agw {

/// The query of `GET /v1/models` in Anthropic's protocol.
struct ModelPage {
  std::optional<Limit> limit;            ///< none: all
  std::optional<std::string> after_id;   ///< the models that follow this one
  std::optional<std::string> before_id;  ///< the models that precede it
};
const Description& describe(Tag<ModelPage>);

/// `GET /v1/models`: the agents that are enabled, then the models of all services.
Response list_models_as_openai(const ClientServices& services);
/// The same, a page of it. Throws ApiError 400 for an id that no model has.
Response list_models_as_anthropic(const ClientServices& services, const ModelPage& page);
/// `GET /v1/models/:id`. Throws ApiError 404.
Response show_client_model(const ClientServices& services, const std::string& id, Protocol protocol);

}  // namespace agw
