#include <string>
#include <utility>

#include "api/error.hpp"
#include "api/route.hpp"
#include "features/secrets/service.hpp"
#include "features/secrets/types.hpp"
#include "io/process/blocking.hpp"

namespace agw {

namespace {

/// Reports problems with a name, a value or the file in the words of `agw secret`. The message never contains a value.
template <class Work>
auto as_bad_request(Work work) {
  return [work = std::move(work)] {
    try {
      return work();
    } catch (const SecretError& error) {
      throw BadRequest(error.what());
    }
  };
}

Task<Response> list_secrets(const Secrets& secrets, BlockingPool& blocking, Request& request) {
  const auto names = co_await blocking.run(as_bad_request([&secrets] { return secrets.names(); }));
  std::vector<SecretName> rows;
  for (const auto& name : names) rows.push_back({name});
  co_return request.respond(rows);
}

Task<Response> set_secret(const Secrets& secrets, BlockingPool& blocking, Request& request) {
  const auto name = request.path("name");
  as_bad_request([&name] { Secrets::check_name(name); })();
  auto value = request.body<SecretValue>().value;
  co_await blocking.run(as_bad_request([&secrets, name, value = std::move(value)] { secrets.set(name, value); }));
  co_return Response::no_content();
}

Task<Response> delete_secret(const Secrets& secrets, BlockingPool& blocking, Request& request) {
  const auto existed =
      co_await blocking.run(as_bad_request([&secrets, name = request.path("name")] { return secrets.remove(name); }));
  if (!existed) throw NotFound("secret not found");
  co_return Response::no_content();
}

}  // namespace

Routes secret_routes(const Secrets& secrets, BlockingPool& blocking) {
  return {
      get("/secrets", "List the names of the secrets", list_secrets, secrets, blocking)
          .responds<std::vector<SecretName>>()
          .fails_with({400}),
      put("/secrets/:name", "Store a secret, which extensions use as ${secret:NAME}", set_secret, secrets, blocking)
          .body<SecretValue>()
          .responds_no_content()
          .fails_with({400}),
      remove("/secrets/:name", "Delete a secret", delete_secret, secrets, blocking)
          .responds_no_content()
          .fails_with({400, 404}),
  };
}

}  // namespace agw
