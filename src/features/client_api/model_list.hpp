#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/client_errors.hpp"
#include "api/response.hpp"
#include "base/json/described.hpp"
#include "base/time/time.hpp"
#include "features/extensions/service.hpp"
#include "models/catalog.hpp"

namespace agw {

/// A model or agent, as listed for programs.
struct ClientModel {
  std::string id;
  std::string owner;
  Timestamp created{};
  std::int64_t max_input = 0;   ///< tokens; 0: unknown
  std::int64_t max_output = 0;  ///< tokens; 0: unknown
};

/// The names that programs may specify as `model`. There may be thousands of models, and programs list them often, so
/// the list is cached until it changes. Used on the loop.
class ClientModelList {
public:
  /// Both must outlive the list.
  ClientModelList(const Models& models, const Extensions& extensions) : models_(models), extensions_(extensions) {}

  /// The enabled agents.
  std::vector<ClientModel> agents() const;
  /// The models of all services.
  const std::vector<ClientModel>& models();
  /// The models of all services, as the elements of OpenAI's list.
  const std::string& models_as_openai();

private:
  void update();

  const Models& models_;
  const Extensions& extensions_;
  std::optional<std::uint64_t> revision_;  ///< of the cached models
  std::vector<ClientModel> kept_;
  std::string kept_as_openai_;
};

/// The query of `GET /v1/models` in Anthropic's protocol.
struct ModelPage {
  std::optional<Limit> limit;            ///< none: all
  std::optional<std::string> after_id;   ///< the models that follow this one
  std::optional<std::string> before_id;  ///< the models that precede it
};
const Description& describe(Tag<ModelPage>);

/// `GET /v1/models`: the enabled agents, then the models of all services.
Response list_models_as_openai(ClientModelList& list);
/// `GET /v1/models` in Anthropic's protocol: one page. Throws ApiError 400 for an unknown id.
Response list_models_as_anthropic(ClientModelList& list, const ModelPage& page);
/// `GET /v1/models/:id`. Throws ApiError 404.
Response show_client_model(ClientModelList& list, const std::string& id, Protocol protocol);

}  // namespace agw
