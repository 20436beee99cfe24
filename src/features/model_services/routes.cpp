#include "api/route.hpp"
#include "features/model_services/service.hpp"
#include "features/model_services/types.hpp"

namespace agw {

namespace {

Task<Response> list_models_of_all(ModelServices& services, Request& request) {
  const auto query = request.query<ModelsQuery>();
  co_return Response{.body = co_await services.list_json(query.refresh)};
}

Response list_presets(const Request& request) { return request.respond(model_service_presets()); }

Task<Response> check_service(ModelServices& services, Request& request) {
  co_return request.respond(co_await services.check(request.body<ServiceCheck>()));
}

Task<Response> detect_services(ModelServices& services, Request& request) {
  co_return request.respond(co_await services.detect());
}

Response show_settings(const ModelServices& services, const Request& request) {
  return request.respond(services.settings());
}

Task<Response> change_settings(ModelServices& services, Request& request) {
  co_return request.respond(co_await services.change(request.body<SettingsChange>()));
}

}  // namespace

Routes model_service_routes(ModelServices& services) {
  return {
      get("/models", "List the models of all services", list_models_of_all, services)
          .query<ModelsQuery>()
          .responds<std::vector<ModelInfo>>()
          .fails_with({400}),
      get("/model-services", "List the model services that the gateway knows how to connect", list_presets)
          .responds<std::vector<ModelServicePreset>>(),
      post("/model-services/check", "Ask a model service for its models; nothing is stored", check_service, services)
          .body<ServiceCheck>()
          .responds<CheckedService>()
          .fails_with({400})
          .executes(),
      post("/model-services/detect", "Look for model services on this machine", detect_services, services)
          .responds<std::vector<DetectedService>>()
          .executes(),
      get("/settings", "Show the settings of the gateway", show_settings, services).responds<GatewaySettings>(),
      patch("/settings", "Change the settings of the gateway", change_settings, services)
          .body<SettingsChange>()
          .responds<GatewaySettings>()
          .fails_with({400, 409}),
  };
}

}  // namespace agw
