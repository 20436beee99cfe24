#include "features/engine/choice_routes.hpp"

#include "features/engine/modes.hpp"

namespace agw {

Routes ChoiceRoutes::routes() {
  return {
      get("/models", "List the models that are configured", this, &ChoiceRoutes::models)
          .answers<std::vector<ModelInfo>>(),
      get("/modes", "List the modes of a thread", this, &ChoiceRoutes::modes).answers<std::vector<ModeDetail>>(),
  };
}

Task<Answer> ChoiceRoutes::models(Request&) { co_return Answer::of(models_.list()); }

Task<Answer> ChoiceRoutes::modes(Request&) { co_return Answer::of(agw::modes()); }

}  // namespace agw
