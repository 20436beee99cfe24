// Metadata of a service and its authorization server: a line with the challenge, then one response per line, each JSON.
// A login ends with an error, or with endpoints to which codes and tokens may be sent.

#include <string>
#include <utility>

#include "base/json/json.hpp"
#include "features/integrations/oauth.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"
#include "io/http/http_client.hpp"
#include "testing/run.hpp"

namespace agw {

namespace {

std::string_view answers;

OAuthWeb::Reply next_reply() {
  const auto value = parse_json(fuzzing::take_line(answers));
  return {.status = value ? 200 : 404, .body = value && value->is_object() ? value->get_object() : json::object()};
}

/// Whether eavesdropping is impossible.
bool is_protected(const WebUrl& url) {
  return url.origin().starts_with("https:") || url.host() == "localhost" || url.host() == "::1" ||
         url.host().starts_with("127.");
}

}  // namespace

// Replaces features/integrations/oauth_requests.cpp, which uses the network.

Task<OAuthWeb::Reply> OAuthWeb::get(WebUrl) const { co_return next_reply(); }
Task<OAuthWeb::Reply> OAuthWeb::post(WebUrl, std::string, std::string, std::vector<HttpHeader>) const {
  co_return next_reply();
}

}  // namespace agw

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return agw::fuzzing::mutate_json_lines(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace agw;
  answers = fuzzing::text_of(data, size);
  const auto challenge = bearer_challenge(fuzzing::take_line(answers));
  testing::run([&](Loop& loop) -> Task<> {
    HttpClient http(loop);
    const OAuthWeb web(http, *WebUrl::parse("https://api.example.com/mcp"), false);
    try {
      const auto server = co_await discover_oauth(web, challenge.value_or(BearerChallenge()));
      fuzzing::require(is_protected(server.authorization_endpoint) && is_protected(server.token_endpoint));
      const auto resource = WebUrl::parse(server.resource);
      fuzzing::require(resource && resource->origin() == "https://api.example.com");
    } catch (const OAuthError& error) {
      fuzzing::require(is_utf8(error.what()));
    }
  });
  return 0;
}
