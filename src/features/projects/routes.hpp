#pragma once

#include "api/route.hpp"
#include "features/projects/service.hpp"

namespace agw {

/// `/projects`.
class ProjectRoutes {
public:
  explicit ProjectRoutes(Projects& projects) : projects_(projects) {}
  Routes routes();

private:
  Answer list(const Request& request);
  Task<Answer> create(Request& request);
  Task<Answer> read(Request& request);
  Task<Answer> change(Request& request);
  Task<Answer> erase(Request& request);

  Projects& projects_;
};

}  // namespace agw
