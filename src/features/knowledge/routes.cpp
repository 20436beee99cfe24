#include "features/knowledge/routes.hpp"

namespace agw {

Routes KnowledgeRoutes::routes() {
  return {
      get("/knowledge", "The index of the wiki", this, &KnowledgeRoutes::overview)
          .query<KnowledgeFilter>()
          .answers<KnowledgeOverview>(),
      get("/knowledge/search", "Search the pages, best first", this, &KnowledgeRoutes::search)
          .query<KnowledgeQuery>()
          .answers<std::vector<KnowledgeHit>>()
          .fails_with({400}),
      get("/knowledge/article/:slug", "Show a page", this, &KnowledgeRoutes::article)
          .query<KnowledgeFilter>()
          .answers<Article>()
          .fails_with({404}),
      get("/knowledge/pages", "List pages", this, &KnowledgeRoutes::pages)
          .query<KnowledgeFilter>()
          .answers<std::vector<KnowledgePage>>(),
      get("/knowledge/stats", "Count pages, sources, links", this, &KnowledgeRoutes::stats).answers<KnowledgeStats>(),
      get("/knowledge/health", "What needs a person: broken links, stale pages", this, &KnowledgeRoutes::health)
          .answers<KnowledgeHealth>(),
      get("/knowledge/log", "What happened to the knowledge, newest first", this, &KnowledgeRoutes::journal)
          .query<KnowledgeLogQuery>()
          .answers<std::vector<KnowledgeEvent>>()
          .fails_with({400}),
      get("/entities", "List what the pages name", this, &KnowledgeRoutes::entities)
          .query<EntityQuery>()
          .answers<std::vector<Entity>>(),
      get("/entities/:id", "Show an entity and its pages", this, &KnowledgeRoutes::entity)
          .answers<Entity>()
          .fails_with({404}),
  };
}

Task<Answer> KnowledgeRoutes::overview(Request& request) {
  co_return Answer::of(co_await knowledge_.overview(request.query<KnowledgeFilter>()));
}

Task<Answer> KnowledgeRoutes::pages(Request& request) {
  co_return Answer::of(co_await knowledge_.pages(request.query<KnowledgeFilter>()));
}

Task<Answer> KnowledgeRoutes::search(Request& request) {
  co_return Answer::of(co_await knowledge_.search(request.query<KnowledgeQuery>()));
}

Task<Answer> KnowledgeRoutes::article(Request& request) {
  co_return Answer::of(co_await knowledge_.article(request.path("slug"), request.query<KnowledgeFilter>()));
}

Task<Answer> KnowledgeRoutes::stats(Request&) { co_return Answer::of(co_await knowledge_.stats()); }

Task<Answer> KnowledgeRoutes::health(Request&) { co_return Answer::of(co_await knowledge_.health()); }

Task<Answer> KnowledgeRoutes::journal(Request& request) {
  co_return Answer::of(co_await knowledge_.journal(request.query<KnowledgeLogQuery>()));
}

Task<Answer> KnowledgeRoutes::entities(Request& request) {
  co_return Answer::of(co_await knowledge_.entities(request.query<EntityQuery>()));
}

Task<Answer> KnowledgeRoutes::entity(Request& request) {
  co_return Answer::of(co_await knowledge_.entity(request.path("id")));
}

}  // namespace agw
