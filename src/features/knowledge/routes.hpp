#pragma once

#include "api/route.hpp"
#include "features/knowledge/service.hpp"

namespace agw {

/// `/knowledge` and `/entities`.
class KnowledgeRoutes {
public:
  explicit KnowledgeRoutes(Knowledge& knowledge) : knowledge_(knowledge) {}
  Routes routes();

private:
  Task<Answer> overview(Request& request);
  Task<Answer> pages(Request& request);
  Task<Answer> search(Request& request);
  Task<Answer> article(Request& request);
  Task<Answer> stats(Request& request);
  Task<Answer> health(Request& request);
  Task<Answer> journal(Request& request);
  Task<Answer> entities(Request& request);
  Task<Answer> entity(Request& request);

  Knowledge& knowledge_;
};

}  // namespace agw
