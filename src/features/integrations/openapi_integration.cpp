#include "features/integrations/openapi_integration.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "tools/tool.hpp"

namespace agw {

namespace {

constexpr std::size_t max_document_bytes = 8 * 1024 * 1024;

/// Thrown to abandon a request.
struct CannotCall {
  std::string why;
};

std::string path_of(const ApiOperation& operation, const json::object& input) {
  auto path = operation.path;
  for (const auto& parameter : operation.parameters) {
    if (parameter.place != ParameterPlace::path) continue;
    const auto value = text_or_json(input, parameter.name);
    if (value.empty() || value == "." || value == "..") throw CannotCall{parameter.name + " must name something"};
    boost::replace_all(path, "{" + parameter.name + "}", percent_encode(value));
  }
  return path;
}

WebUrl url_of(const ApiDescription& description, const ApiOperation& operation, const json::object& input) {
  json::object query;
  for (const auto& parameter : operation.parameters) {
    const auto* member = input.if_contains(parameter.name);
    if (parameter.place == ParameterPlace::query && member) query[parameter.name] = *member;
  }
  const auto url = WebUrl::parse(with_query(with_path(description.server.text(), path_of(operation, input)), query));
  if (!url || url->origin() != description.server.origin()) throw CannotCall{"the input does not fit into the address"};
  return *url;
}

std::string form_of(const json::object& members) {
  const auto query = with_query("", members);
  return query.empty() ? query : query.substr(1);
}

void set_parameters(WebRequest& request, const ApiOperation& operation, const json::object& input) {
  request.method = operation.method;
  for (const auto& parameter : operation.parameters) {
    const auto value = text_or_json(input, parameter.name);
    if (parameter.place != ParameterPlace::header || value.empty()) continue;
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      throw CannotCall{parameter.name + " must not hold line breaks"};
    }
    request.headers.push_back({parameter.name, value});
  }
  const auto* body = input.if_contains("body");
  if (!body || operation.body_type.empty()) return;
  const bool is_form = operation.body_type == "application/x-www-form-urlencoded" && body->is_object();
  request.body = is_form ? form_of(body->get_object()) : text_or_json(*body);
  request.headers.push_back({"Content-Type", operation.body_type});
}

}  // namespace

OpenApiIntegration::OpenApiIntegration(HttpClient& http, BlockingPool& blocking, const Secrets& secrets,
                                       IntegrationSettings settings)
    : Integration(std::move(settings)), http_(http), blocking_(blocking), secrets_(secrets) {}

Task<> OpenApiIntegration::run(StopSource& stop) {
  for (int failures = 0; !stop.requested();) {
    problem_ = co_await load(stop);
    if (problem_.empty()) {
      log::info("integration {}: read, {} operations", settings().name, tools().size());
      if (description_->left_out > 0) {
        log::warn("integration {}: {} further operations of its document are left out", settings().name,
                  description_->left_out);
      }
      co_await pause(stop, until_stopped);
      co_return;
    }
    note_tried();
    const auto wait = backoff_after(++failures);
    log::warn("integration {}: {}; next attempt in {} s", settings().name, problem_,
              std::chrono::duration_cast<std::chrono::seconds>(wait).count());
    co_await pause(stop, wait);
  }
}

Task<std::string> OpenApiIntegration::load(StopSource& stop) {
  const auto address = co_await service_address(blocking_, secrets_, settings());
  if (!address.problem.empty()) co_return address.problem;
  auto request = service_request(address, settings(), address.url);
  request.max_body_bytes = max_document_bytes;
  request.truncate_body = false;
  const auto response = co_await send_to_service(http_, std::move(request), address, stop);
  if (!response.problem.empty()) co_return response.problem;
  if (response.head.status != 200) co_return fmt::format("its url answers with status {}", response.head.status);
  auto read = co_await blocking_.run([text = response.body, url = response.url] { return read_openapi(text, url); });
  if (const auto* problem = std::get_if<ApiProblem>(&read)) co_return problem->text;
  description_ = std::make_shared<const ApiDescription>(std::get<ApiDescription>(std::move(read)));
  std::vector<OfferedTool> offered;
  for (const auto& operation : description_->operations) offered.push_back(operation.tool);
  offer(std::move(offered));
  co_return "";
}

Task<ToolOutcome> OpenApiIntegration::call(std::string tool, const ToolCall& call) {
  const auto description = description_;
  if (!description) co_return failed(fmt::format("the integration {} cannot be used: {}", settings().name, problem_));
  const auto found =
      std::ranges::find(description->operations, tool, [](const auto& operation) { return operation.tool.name; });
  if (found == description->operations.end())
    co_return failed(fmt::format("{} has no operation {}", settings().name, tool));
  const auto address = co_await service_address(blocking_, secrets_, settings());
  if (!address.problem.empty()) co_return failed(address.problem);
  WebRequest request;
  try {
    request = service_request(address, settings(), url_of(*description, *found, call.input));
    set_parameters(request, *found, call.input);
  } catch (const CannotCall& problem) {
    co_return failed(problem.why);
  }
  request.refusal = [&call](const WebUrl& next) { return refusal_of(call, next.host()); };
  co_return service_outcome(co_await send_to_service(http_, std::move(request), address, call.stop), address);
}

}  // namespace agw
