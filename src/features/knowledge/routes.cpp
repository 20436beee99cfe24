#include <functional>
#include <memory>

#include "api/route.hpp"
#include "features/knowledge/service.hpp"
#include "io/process/blocking.hpp"

namespace agw {

namespace {

/// Writes a response of possibly megabytes on another thread. Not a template, because each coroutine takes kilobytes
/// of the program.
Task<Response> respond_by(Knowledge& knowledge, std::function<void(std::string& body)> write) {
  auto body = co_await knowledge.blocking().run([write = std::move(write)] {
    std::string written;
    write(written);
    return written;
  });
  co_return Response{.body = std::move(body)};
}

template <class T>
Task<Response> respond(Knowledge& knowledge, T value) {
  return respond_by(knowledge, [value = std::make_shared<const T>(std::move(value))](std::string& body) {
    write_json(body, *value);
  });
}

Task<Response> show_overview(Knowledge& knowledge, Request& request) {
  co_return co_await respond(knowledge, co_await knowledge.overview(request.query<KnowledgeFilter>()));
}

Task<Response> list_pages(Knowledge& knowledge, Request& request) {
  co_return co_await respond(knowledge, co_await knowledge.pages(request.query<KnowledgeFilter>()));
}

Task<Response> search_pages(Knowledge& knowledge, Request& request) {
  co_return request.respond(co_await knowledge.search(request.query<KnowledgeQuery>()));
}

Task<Response> show_article(Knowledge& knowledge, Request& request) {
  co_return co_await respond(knowledge,
                             co_await knowledge.article(request.path("slug"), request.query<KnowledgeFilter>()));
}

Task<Response> list_links(Knowledge& knowledge, Request& request) {
  co_return co_await respond(knowledge, co_await knowledge.links(request.query<KnowledgeFilter>()));
}

Task<Response> show_stats(Knowledge& knowledge, Request& request) {
  co_return request.respond(co_await knowledge.stats());
}

Task<Response> show_health(Knowledge& knowledge, Request& request) {
  co_return co_await respond(knowledge, co_await knowledge.health());
}

Task<Response> list_journal(Knowledge& knowledge, Request& request) {
  co_return request.respond(co_await knowledge.journal(request.query<KnowledgeLogQuery>()));
}

Task<Response> list_entities(Knowledge& knowledge, Request& request) {
  co_return co_await respond(knowledge, co_await knowledge.entities(request.query<EntityQuery>()));
}

Task<Response> show_entity(Knowledge& knowledge, Request& request) {
  co_return request.respond(co_await knowledge.entity(request.path("id")));
}

}  // namespace

Routes knowledge_routes(Knowledge& knowledge) {
  return {
      get("/knowledge", "The index of the wiki", show_overview, knowledge)
          .query<KnowledgeFilter>()
          .responds<KnowledgeOverview>(),
      get("/knowledge/search", "Search the pages, best first", search_pages, knowledge)
          .query<KnowledgeQuery>()
          .responds<std::vector<KnowledgeHit>>()
          .fails_with({400}),
      get("/knowledge/article/:slug", "Show a page", show_article, knowledge)
          .query<KnowledgeFilter>()
          .responds<Article>()
          .fails_with({404}),
      get("/knowledge/pages", "List pages", list_pages, knowledge)
          .query<KnowledgeFilter>()
          .responds<std::vector<KnowledgePage>>(),
      get("/knowledge/links", "List the links between pages", list_links, knowledge)
          .query<KnowledgeFilter>()
          .responds<std::vector<KnowledgeLink>>(),
      get("/knowledge/stats", "Count pages, sources, links", show_stats, knowledge).responds<KnowledgeStats>(),
      get("/knowledge/health", "What needs a person: broken links, stale pages", show_health, knowledge)
          .responds<KnowledgeHealth>(),
      get("/knowledge/log", "What happened to the knowledge, newest first", list_journal, knowledge)
          .query<KnowledgeLogQuery>()
          .responds<std::vector<KnowledgeEvent>>()
          .fails_with({400}),
      get("/entities", "List what the pages name", list_entities, knowledge)
          .query<EntityQuery>()
          .responds<std::vector<Entity>>(),
      get("/entities/:id", "Show an entity and its pages", show_entity, knowledge).responds<Entity>().fails_with({404}),
  };
}

}  // namespace agw
