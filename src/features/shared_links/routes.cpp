#include "api/refusals.hpp"
#include "api/route.hpp"
#include "features/shared_links/service.hpp"
#include "features/threads/service.hpp"

namespace agw {

namespace {

Task<Response> create_link(SharedLinks& links, Threads& threads, Request& request) {
  co_await threads.require(request.path("id"));
  const auto wanted = request.query<NewSharedLink>();
  if (request.content.empty()) throw body_required();
  co_return request.respond(co_await links.create(request.path("id"), wanted, std::move(request.content),
                                                  request.in_transaction<SharedLink>()));
}

Task<Response> list_links_of_thread(SharedLinks& links, Threads& threads, Request& request) {
  co_await threads.require(request.path("id"));
  co_return request.respond(co_await links.list(request.path("id")));
}

Task<Response> list_links(SharedLinks& links, Request& request) { co_return request.respond(co_await links.list()); }

Task<Response> remove_link(SharedLinks& links, Request& request) {
  co_await links.remove(request.path("id"));
  co_return Response::no_content();
}

Task<Response> show_content(SharedLinks& links, Request& request) {
  auto content = co_await links.content(request.path("id"));
  co_return Response{.body = std::move(content.bytes),
                     .content_type = "application/octet-stream",
                     .headers = {{"X-Expires-At", to_iso8601(content.expires_at)}}};
}

}  // namespace

Routes shared_link_routes(SharedLinks& links, Threads& threads, Fields of_page) {
  return {
      post("/threads/:id/links", "Share a thread by a link: its encrypted content is the body", create_link, links,
           threads)
          .query<NewSharedLink>()
          .raw_body_up_to(SharedLinks::max_size)
          .responds<SharedLink>(201)
          .fails_with({400, 404, 409, 413, 507}),
      get("/threads/:id/links", "List the links that share a thread, newest first", list_links_of_thread, links,
          threads)
          .responds<std::vector<SharedLink>>()
          .fails_with({404}),
      get("/links", "List the links that share threads, newest first", list_links, links)
          .responds<std::vector<SharedLink>>(),
      remove("/links/:id", "Take back a link that shares a thread", remove_link, links)
          .responds_no_content()
          .fails_with({404}),
      get("/ui/shared/:id", "The encrypted content of a link", show_content, links)
          .needs_no_token()
          .undocumented()
          .with_headers(std::move(of_page)),
  };
}

}  // namespace agw
