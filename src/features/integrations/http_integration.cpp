#include "features/integrations/http_integration.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "tools/tool.hpp"
#include "tools/web/http_response.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_response_body = 4 * 1024 * 1024;
constexpr auto max_request_time = 60s;
constexpr auto tool_name = "request";
constexpr auto tool_schema = R"({
  "type": "object",
  "required": ["path"],
  "properties": {
    "method": {"type": "string", "enum": ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"], "description": "GET where omitted"},
    "path": {"type": "string", "description": "Behind the service's URL: /users/42"},
    "query": {"type": "object"},
    "body": {"description": "Sent as JSON; a text as it is"}
  },
  "additionalProperties": false
})";

/// Whether a path stays below the one to which it is appended, also at a server that decodes it first.
bool stays_beneath(std::string_view path) {
  auto decoded = lower_case(path.substr(0, path.find_first_of("?#")));
  boost::replace_all(decoded, "%2e", ".");
  boost::replace_all(decoded, "%2f", "/");
  boost::replace_all(decoded, "%5c", "/");
  boost::replace_all(decoded, "\\", "/");
  decoded = "/" + decoded + "/";
  return decoded.find("/./") == decoded.npos && decoded.find("/../") == decoded.npos;
}

void add_query(std::string& url, std::string_view piece) {
  url += url.find('?') == std::string::npos ? '?' : '&';
  url += piece;
}

void set_service_body(WebRequest& request, const json::value& body) {
  request.body = text_or_json(body);
  request.headers.push_back({"Content-Type", body.is_string() ? "text/plain; charset=utf-8" : "application/json"});
}

}  // namespace

ServiceAddress filled_address(const Secrets& secrets, const IntegrationSettings& settings) {
  ServiceAddress address;
  const auto url = WebUrl::parse(secrets.expand(settings.url, &address.secrets));
  if (!url) return {.problem = "its url is no http or https address"};
  address.url = *url;
  for (const auto& [name, value] : settings.headers) {
    address.headers.push_back({name, secrets.expand(value, &address.secrets)});
  }
  return address;
}

Task<ServiceAddress> service_address(BlockingPool& blocking, const Secrets& secrets, IntegrationSettings settings) {
  co_return co_await blocking.run([&secrets, settings = std::move(settings)]() -> ServiceAddress {
    try {
      return filled_address(secrets, settings);
    } catch (const SecretError& error) {
      return {.problem = error.what()};
    }
  });
}

WebRequest service_request(const ServiceAddress& address, const IntegrationSettings& settings, WebUrl url) {
  WebRequest request{
      .url = std::move(url), .max_body_bytes = max_response_body, .truncate_body = true, .limit = max_request_time};
  if (request.url.origin() == address.url.origin()) request.origin_headers = address.headers;
  if (settings.is_persons) {
    request.may_be_private = [host = address.url.host()](const WebUrl& next) { return next.host() == host; };
  }
  return request;
}

Task<WebResponse> send_to_service(HttpClient& http, WebRequest request, const ServiceAddress& address,
                                  StopSource& stop) {
  auto response = co_await send_web_request(http, std::move(request), stop);
  response.problem = address.secrets.hidden_in(response.problem);
  co_return response;
}

ToolOutcome service_outcome(const WebResponse& response, const ServiceAddress& address) {
  auto outcome = http_response(response);
  outcome.output = address.secrets.hidden_in_response(outcome.output);
  return outcome;
}

std::string with_path(std::string_view url, std::string_view path) {
  path = path.substr(0, path.find('#'));
  const auto url_end = std::min(url.find('?'), url.size());
  const auto path_end = std::min(path.find('?'), path.size());
  std::string whole(url.substr(0, url_end));
  while (whole.ends_with('/')) whole.pop_back();
  if (!path.starts_with('/')) whole += '/';
  whole += path.substr(0, path_end);
  for (auto query : {url.substr(url_end), path.substr(path_end)}) {
    if (query.size() > 1) add_query(whole, query.substr(1));
  }
  return whole;
}

std::string with_query(std::string url, const json::object& query) {
  for (const auto& [name, value] : query) {
    if (value.is_null()) continue;
    const auto add = [&](const json::value& one) {
      add_query(url, percent_encode(name) + "=" + percent_encode(text_or_json(one)));
    };
    if (value.is_array()) {
      for (const auto& one : value.get_array()) add(one);
    } else {
      add(value);
    }
  }
  return url;
}

HttpIntegration::HttpIntegration(HttpClient& http, BlockingPool& blocking, const Secrets& secrets,
                                 IntegrationSettings settings)
    : Integration(std::move(settings)), http_(http), blocking_(blocking), secrets_(secrets) {}

Task<> HttpIntegration::run(StopSource& stop) {
  offer({{tool_name, fmt::format("Asks the service {}", settings().name), parse_json(tool_schema)->as_object()}});
  co_await pause(stop, until_stopped);
}

Task<ToolOutcome> HttpIntegration::call(std::string tool, const ToolCall& call) {
  if (tool != tool_name) co_return failed(fmt::format("{} has no tool {}", settings().name, tool));
  const auto address = co_await service_address(blocking_, secrets_, settings());
  if (!address.problem.empty()) co_return failed(address.problem);
  const std::string path(string_member(call.input, "path").value_or(""));
  if (!stays_beneath(path)) co_return failed("path must stay beneath the service's URL");
  const auto url = WebUrl::parse(with_query(with_path(address.url.text(), path), object_or_empty(call.input, "query")));
  if (!url || url->origin() != address.url.origin()) co_return failed("path does not lead to the service");
  auto request = service_request(address, settings(), *url);
  request.method = string_member(call.input, "method").value_or("GET");
  if (const auto* body = call.input.if_contains("body")) set_service_body(request, *body);
  request.refusal = [&call](const WebUrl& next) { return refusal_of(call, next.host()); };
  co_return service_outcome(co_await send_to_service(http_, std::move(request), address, call.stop), address);
}

}  // namespace agw
