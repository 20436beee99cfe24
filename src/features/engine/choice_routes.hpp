#pragma once

#include "api/route.hpp"
#include "models/catalog.hpp"

namespace agw {

/// What a person can choose for a chat: `/models` and `/modes`.
class ChoiceRoutes {
public:
  explicit ChoiceRoutes(const Models& models) : models_(models) {}
  Routes routes();

private:
  Task<Answer> models(Request& request);
  Task<Answer> modes(Request& request);

  const Models& models_;
};

}  // namespace agw
