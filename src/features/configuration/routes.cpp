#include "api/route.hpp"
#include "features/configuration/service.hpp"
#include "features/configuration/types.hpp"

namespace agw {

namespace {

Task<Response> show_configuration(Configuration& configuration, Request& request) {
  co_return request.respond(co_await configuration.report());
}

Task<Response> change_configuration(Configuration& configuration, Request& request) {
  co_return request.respond(co_await configuration.change(request.body_object()));
}

}  // namespace

Routes configuration_routes(Configuration& configuration) {
  return {
      get("/configuration", "Show the settings, and what determines them", show_configuration, configuration)
          .responds<ConfigurationReport>(),
      patch("/configuration", "Change settings in config.yaml; null removes one", change_configuration, configuration)
          .any_object()
          .responds<ConfigurationReport>()
          .with_example({{"retention.days", 60}})
          .fails_with({400, 409}),
  };
}

}  // namespace agw
