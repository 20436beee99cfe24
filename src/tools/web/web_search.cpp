#include "tools/web/web_search.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "io/http/web_request.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

using Kind = WebSearchService::Kind;

constexpr double default_results = 10;
constexpr double max_results = 20;
constexpr std::size_t max_query_length = 400;  // in characters: Brave's limit

constexpr auto search_schema = R"({
  "type": "object",
  "required": ["query"],
  "properties": {
    "query": {"type": "string", "minLength": 1},
    "limit": {"type": "integer", "minimum": 1, "description": "How many results: 10 where omitted, 20 at most"}
  },
  "additionalProperties": false
})";

constexpr auto nothing_configured =
    "no search service is configured: a person sets tools.web_search.service in config.yaml to brave, tavily or "
    "searxng (or BRAVE_API_KEY, TAVILY_API_KEY or SEARXNG_URL in the gateway's environment) and restarts the gateway";

struct Known {
  Kind kind;
  std::string_view name;
  std::string_view base_url;
  std::string_view key_variable;
};
constexpr Known services[] = {{Kind::brave, "brave", "https://api.search.brave.com", "BRAVE_API_KEY"},
                              {Kind::tavily, "tavily", "https://api.tavily.com", "TAVILY_API_KEY"},
                              {Kind::searxng, "searxng", "", ""}};

WebSearchService broken(std::string problem, std::string missing_variable = {}) {
  return {.problem = std::move(problem), .missing_variable = std::move(missing_variable)};
}

/// The service whose variables are set in the environment.
std::string service_in_environment(const Environment& environment) {
  for (const auto& known : services) {
    if (!known.key_variable.empty() && environment(std::string(known.key_variable))) return std::string(known.name);
  }
  return environment("SEARXNG_URL") ? "searxng" : "";
}

/// What a person sets where the key is missing: what is configured, otherwise each possibility.
std::string what_to_set(const Settings::WebSearch& settings, std::string_view key_variable) {
  if (!settings.api_key_file.empty()) return "puts it into that file, or changes tools.web_search.api_key_file";
  if (!settings.api_key_env.empty()) {
    return fmt::format("sets {} in the gateway's environment, or changes tools.web_search.api_key_env",
                       settings.api_key_env);
  }
  return fmt::format("sets {} in the gateway's environment, or tools.web_search.api_key_env or api_key_file",
                     key_variable);
}

WebSearchService with_key(WebSearchService service, const Settings::WebSearch& settings, const Known& known,
                          const Environment& environment) {
  const ConfiguredProvider provider{.api_key_env = settings.api_key_env.empty() && settings.api_key_file.empty()
                                                       ? std::string(known.key_variable)
                                                       : settings.api_key_env,
                                    .api_key_file = settings.api_key_file};
  auto key = read_api_key(provider, environment);
  if (!key.problem.empty()) {
    return broken(
        fmt::format("the search service {} has no key: {}. A person {} in config.yaml and restarts the gateway",
                    known.name, key.problem, what_to_set(settings, known.key_variable)),
        settings.api_key_file.empty() ? provider.api_key_env : std::string());
  }
  service.api_key = std::move(key.value);
  return service;
}

/// The first of these members that has a value.
std::string first_text(const json::object& result, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (const auto found = string_member(result, name); found && !found->empty()) return std::string(*found);
  }
  return {};
}

WebRequest request_of(const WebSearchService& service, const std::string& query, std::int64_t limit) {
  WebRequest request{.method = "GET",
                     .headers = {{"Accept", "application/json"}},
                     .max_body_bytes = 4 * 1024 * 1024,
                     .may_be_private = [](const WebUrl&) { return true; }};
  std::string url = service.base_url;
  while (url.ends_with('/')) url.pop_back();
  if (service.kind == Kind::brave) {
    url += fmt::format("/res/v1/web/search?q={}&count={}", percent_encode(query), limit);
    request.origin_headers = {{"X-Subscription-Token", service.api_key}};
  } else if (service.kind == Kind::searxng) {
    url += fmt::format("/search?q={}&format=json", percent_encode(query));
    if (!service.api_key.empty()) request.origin_headers = {{"Authorization", "Bearer " + service.api_key}};
  } else {
    url += "/search";
    request.method = "POST";
    request.headers.push_back({"Content-Type", "application/json"});
    request.origin_headers = {{"Authorization", "Bearer " + service.api_key}};
    request.body = to_json(json::object{{"query", query}, {"max_results", limit}});
  }
  request.url = WebUrl::parse(url).value_or(WebUrl());
  return request;
}

const json::array* results_of(const WebSearchService& service, const json::value& response) {
  const auto* object = response.if_object();
  if (object && service.kind == Kind::brave) object = object_member(*object, "web");
  return object ? array_member(*object, "results") : nullptr;
}

std::string shown(const json::array& results, std::int64_t limit) {
  std::string out;
  std::int64_t number = 0;
  for (const auto& result : results) {
    if (!result.is_object() || number == limit) continue;
    const auto& members = result.get_object();
    const auto url = WebUrl::parse(string_or_empty(members, "url"));
    if (!url) continue;
    out += fmt::format("{}. {}\n   {}\n", ++number, string_or_empty(members, "title"), url->text());
    const auto text = first_text(members, {"description", "content"});
    if (!text.empty()) out += fmt::format("   {}\n", truncate_middle(text, 1000));
  }
  return out.empty() ? "nothing found" : truncate_middle(out);
}

ToolOutcome outcome_of(const WebSearchService& service, const WebResponse& response, std::int64_t limit) {
  if (!response.problem.empty()) return failed("the search service " + response.problem);
  if (response.head.status != 200) {
    return failed(fmt::format("the search service answered with status {}{}", response.head.status,
                              response.head.status == 401 || response.head.status == 403 ? ": is its key right?" : ""));
  }
  const auto parsed = parse_json(response.body);
  const auto* results = parsed ? results_of(service, *parsed) : nullptr;
  // Brave omits the list if there are no results.
  if (!results && parsed && service.kind == Kind::brave) return {.output = "nothing found"};
  if (!results) return failed("the search service answered with something other than results");
  return {.output = shown(*results, limit)};
}

Task<ToolOutcome> web_search(HttpClient& http, const WebSearchService& service, const ToolCall& call) {
  if (!service.problem.empty()) co_return failed(service.problem);
  const std::string query(string_member(call.input, "query").value_or(""));
  if (first_characters(query, max_query_length).size() < query.size()) {
    co_return failed("query is longer than 400 characters");
  }
  const auto* wanted = call.input.if_contains("limit");
  const auto limit =
      static_cast<std::int64_t>(std::min(wanted ? wanted->to_number<double>() : default_results, max_results));
  const auto response = co_await send_web_request(http, request_of(service, query, limit), call.stop);
  co_return outcome_of(service, response, limit);
}

}  // namespace

WebSearchService web_search_service(const Settings::WebSearch& settings, const Environment& environment) {
  const auto name = settings.service.empty() ? service_in_environment(environment) : settings.service;
  const auto* const known = std::ranges::find(services, name, &Known::name);
  if (known == std::end(services)) return broken(nothing_configured);
  WebSearchService service{.kind = known->kind, .base_url = std::string(known->base_url)};
  if (known->kind == Kind::searxng) service.base_url = environment("SEARXNG_URL").value_or("");
  if (!settings.base_url.empty()) service.base_url = settings.base_url;
  if (!WebUrl::parse(service.base_url)) {
    return broken(
        "the search service searxng has no address: set tools.web_search.base_url in config.yaml, or SEARXNG_URL",
        "SEARXNG_URL");
  }
  const bool needs_key =
      known->kind != Kind::searxng || !settings.api_key_env.empty() || !settings.api_key_file.empty();
  return needs_key ? with_key(std::move(service), settings, *known, environment) : service;
}

Tool web_search_tool(HttpClient& http, WebSearchService service) {
  auto kept = std::make_shared<const WebSearchService>(std::move(service));
  return {.description = {.name = "WebSearch",
                          .description = "Searches the web. Read the results with WebFetch.",
                          .input_schema = *parse_json(search_schema)},
          .effect = ToolEffect::fetches,
          .limit = std::chrono::seconds(60),
          .call = [&http, kept](const ToolCall& call) { return web_search(http, *kept, call); }};
}

}  // namespace agw
