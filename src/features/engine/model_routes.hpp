#pragma once

#include "api/route.hpp"
#include "models/catalog.hpp"

namespace agw {

/// `/models`.
class ModelRoutes {
public:
  explicit ModelRoutes(const Models& models) : models_(models) {}
  Routes routes();

private:
  Answer list(const Request& request);

  const Models& models_;
};

}  // namespace agw
