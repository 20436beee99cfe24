#include <unistd.h>

#include <cstdlib>
#include <iomanip>
#include <locale>
#include <set>
#include <sstream>
#include <variant>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/client/client.hpp"
#include "cli/doctor/doctor.hpp"
#include "io/http/http_client.hpp"
#include "models/catalog.hpp"
#include "models/failures.hpp"
#include "models/settings.hpp"
#include "tools/web/web_search.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;
using State = CheckResult::State;

constexpr auto probe_limit = 10s;
constexpr auto max_clock_skew = 2min;
constexpr auto how_to_connect =
    "agw model add; or set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST for the gateway, or "
    "providers in config.yaml";

/// A request that costs nothing but requires the key: the list of models.
HttpRequest list_request(const ProviderSettings& provider) {
  HttpRequest request{.url = provider.base_url, .connect_timeout = probe_limit, .idle_timeout = probe_limit};
  switch (provider.kind) {
    case ProviderKind::anthropic:
      request.url += "/v1/models";
      request.headers = {{"x-api-key", provider.api_key}, {"anthropic-version", "2023-06-01"}};
      break;
    case ProviderKind::openai:
      request.url += "/models";
      if (!provider.api_key.empty()) request.headers = {{"authorization", "Bearer " + provider.api_key}};
      break;
    case ProviderKind::ollama:
      request.url += "/api/tags";
      break;
    case ProviderKind::gemini:
      request.url += "/v1beta/models";
      if (!provider.api_key.empty()) request.headers = {{"x-goog-api-key", provider.api_key}};
      break;
  }
  return request;
}

CheckResult reached(const ProviderSettings& provider, const HttpOutcome& outcome) {
  const auto check = "model " + provider.name;
  auto address = redacted_url(provider.base_url);
  if (address.empty()) address = "its address";
  if (outcome.head.status == 0) {
    return {check, State::warning, fmt::format("{} does not answer: {}", address, outcome.error),
            "is the service up, the address right, the network there?"};
  }
  if (outcome.head.status == 401 || outcome.head.status == 403) {
    return {check, State::warning, fmt::format("{} rejects the key (status {})", address, outcome.head.status),
            "set a key that is valid"};
  }
  return {check, State::good, fmt::format("{} answers", address)};
}

/// Compares clocks: a wrong one breaks certificates and the times of jobs.
void compare_clocks(const HttpOutcome& outcome, CheckResults& results) {
  const auto date = outcome.head.header("date");
  if (!date) return;
  std::tm parts{};
  std::istringstream text{std::string(*date)};
  text.imbue(std::locale::classic());
  text >> std::get_time(&parts, "%a, %d %b %Y %H:%M:%S");
  if (text.fail()) return;
  const auto there = std::chrono::system_clock::from_time_t(::timegm(&parts));
  const auto apart = std::chrono::abs(std::chrono::system_clock::now() - there);
  if (apart < max_clock_skew) return;
  results.push_back({"clock", State::warning,
                     fmt::format("it differs from a model service's by {} s",
                                 std::chrono::duration_cast<std::chrono::seconds>(apart).count()),
                     "set the clock: timedatectl set-ntp true"});
}

void check_default_model(HttpClient& http, BlockingPool& blocking, const ModelSettings& models, CheckResults& results) {
  const auto& wanted = models.default_model;
  if (wanted.empty() || wanted == fmt::format("{}/{}", offline_provider, offline_model)) return;
  const Models catalog(http, blocking, models, Prices());
  const auto chosen = catalog.resolve({});
  const auto* missing = std::get_if<NotConfigured>(&chosen);
  if (!missing) return;
  results.push_back({"models.default", State::warning, fmt::format("{}: {}", wanted, missing->message),
                     "configure its provider, or set another models.default in config.yaml"});
}

bool is_model_service(const json::object& extension) {
  return string_member(object_or_empty(extension, "definition"), "kind") == "model";
}

/// Has the gateway, which knows their keys, check the services that are extensions. Returns their number.
Task<std::size_t> check_connected(const Client& client, CheckResults& results) {
  std::size_t count = 0;
  const auto listed = co_await client.get("/extensions?type=integration&enabled=true");
  for (const auto& extension : listed.as_array()) {
    if (!is_model_service(extension.as_object())) continue;
    ++count;
    const auto check = "model " + string_or_empty(extension.as_object(), "name");
    const auto checked = co_await client.post("/model-services/check",
                                              {{"definition", object_or_empty(extension.as_object(), "definition")}});
    if (is_true(checked, "ok"))
      results.push_back({check, State::good, "it answers"});
    else
      results.push_back({check, State::warning, string_or_empty(checked, "error")});
  }
  co_return count;
}

/// Reports that there is no model, unless the gateway has one from its own environment.
Task<> check_any_model(const Client& client, CheckResults& results) {
  const auto settings = co_await client.get("/settings");
  const auto model = string_or_empty(settings.as_object(), "default_model");
  if (model != fmt::format("{}/{}", offline_provider, offline_model))
    results.push_back({"models", State::good, fmt::format("the gateway uses {}", model)});
  else
    results.push_back(
        {"models", State::warning, "none is connected: only the built-in librarian answers", how_to_connect});
}

Task<> check_models_of_gateway(const FoundGateway& gateway, bool has_configured, CheckResults& results) {
  std::string problem;
  try {
    const Client client(gateway);
    const auto connected = co_await check_connected(client, results);
    if (connected == 0 && !has_configured) co_await check_any_model(client, results);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem.empty()) results.push_back({"models", State::skipped, problem});
}

bool is_installed(std::string_view program) {
  const char* places = std::getenv("PATH");
  std::istringstream path(places ? places : "/usr/bin:/bin");
  for (std::string place; std::getline(path, place, ':');) {
    if (::access((place + '/' + std::string(program)).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// The program that runs an app of this type.
std::string_view program_of(std::string_view type) {
  if (type == "node" || type == "vite") return "node";
  return type == "python" ? "python3" : "";
}

std::set<std::string> needed_programs(const json::array& apps) {
  std::set<std::string> programs;
  for (const auto& app : apps) {
    const auto* definition = app.as_object().if_contains("definition");
    if (!definition || !definition->is_object()) continue;
    const auto program = program_of(string_member(definition->get_object(), "type").value_or(""));
    if (!program.empty()) programs.emplace(program);
  }
  return programs;
}

}  // namespace

Task<CheckResults> check_models(Loop& loop, const DoctorContext& context) {
  CheckResults results;
  if (!context.settings) co_return results;
  const auto models = configured_models(*context.settings, process_environment());
  if (context.gateway) {
    co_await check_models_of_gateway(*context.gateway, !models.providers.empty(), results);
  } else if (models.providers.empty()) {
    results.push_back({"models", State::warning,
                       "none is configured here; connected services are checked while the gateway runs",
                       how_to_connect});
  }
  HttpClient http(loop);
  BlockingPool blocking(loop);
  check_default_model(http, blocking, models, results);
  StopSource never;
  for (const auto& configured : models.providers) {
    if (!configured.problem.empty()) {
      results.push_back({"model " + configured.name, State::warning, configured.problem});
      continue;
    }
    const auto provider = complete(configured);
    const auto ignore = [](const HttpHead&, std::string_view) { return BodyAction::abandon; };
    const auto outcome = co_await http.send(list_request(provider), ignore, never);
    results.push_back(reached(provider, outcome));
    compare_clocks(outcome, results);
  }
  co_return results;
}

CheckResults check_web_search(const DoctorContext& context) {
  if (!context.settings || context.settings->web_search.service.empty()) return {};
  const auto& settings = context.settings->web_search;
  const auto service = web_search_service(settings, process_environment());
  if (service.problem.empty()) return {{"web search", State::good, settings.service + " is configured"}};
  const auto& variable = service.missing_variable;
  return {{"web search", State::warning, service.problem,
           variable.empty() ? "" : fmt::format("nothing, if {} is set in the gateway's own environment", variable)}};
}

Task<CheckResults> check_apps(const DoctorContext& context) {
  CheckResults results;
  if (!context.gateway) co_return results;
  std::string problem;
  try {
    const auto apps = co_await Client(*context.gateway).get("/extensions?type=app&enabled=true");
    for (const auto& program : needed_programs(apps.as_array())) {
      if (is_installed(program))
        results.push_back({"apps", State::good, fmt::format("{} is installed", program)});
      else
        results.push_back({"apps", State::warning, fmt::format("{} is not installed, and an app needs it", program),
                           fmt::format("install it: sudo apt-get install {}", program == "node" ? "nodejs" : program)});
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem.empty()) results.push_back({"apps", State::skipped, problem});
  co_return results;
}

}  // namespace agw::cli
