#include <unistd.h>

#include <cstdlib>
#include <iomanip>
#include <locale>
#include <set>
#include <sstream>
#include <variant>

#include <fmt/format.h>

#include "cli/client.hpp"
#include "cli/doctor.hpp"
#include "io/http_client.hpp"
#include "models/catalog.hpp"
#include "models/configured.hpp"
#include "models/failures.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;
using State = Finding::State;

constexpr auto patience = 10s;
constexpr auto clock_tolerance = 2min;

/// A request that costs nothing and wants the key: the list of models.
HttpRequest list_request(const ProviderSettings& provider) {
  HttpRequest request{.url = provider.base_url, .connect_limit = patience, .silence_limit = patience};
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
  }
  return request;
}

Finding reached(const ProviderSettings& provider, const HttpOutcome& outcome) {
  const auto check = "model " + provider.name;
  auto address = shown_address(provider.base_url);
  if (address.empty()) address = "its address";
  if (outcome.head.status == 0) {
    return {check, State::warning, fmt::format("{} does not answer: {}", address, outcome.error),
            "is the service up, the address right, the network there?"};
  }
  if (outcome.head.status == 401 || outcome.head.status == 403) {
    return {check, State::warning, fmt::format("{} refuses the key (status {})", address, outcome.head.status),
            "set a key that is valid"};
  }
  return {check, State::good, fmt::format("{} answers", address)};
}

/// A clock that is wrong breaks certificates and the times of jobs.
void compare_clocks(const HttpOutcome& outcome, Findings& findings) {
  const auto date = outcome.head.header("date");
  if (!date) return;
  std::tm parts{};
  std::istringstream text{std::string(*date)};
  text.imbue(std::locale::classic());
  text >> std::get_time(&parts, "%a, %d %b %Y %H:%M:%S");
  if (text.fail()) return;
  const auto there = std::chrono::system_clock::from_time_t(::timegm(&parts));
  const auto apart = std::chrono::abs(std::chrono::system_clock::now() - there);
  if (apart < clock_tolerance) return;
  findings.push_back({"clock", State::warning,
                      fmt::format("it differs from a model service's by {} s",
                                  std::chrono::duration_cast<std::chrono::seconds>(apart).count()),
                      "set the clock: timedatectl set-ntp true"});
}

void check_default_model(HttpClient& http, const ModelSettings& models, Findings& findings) {
  const auto& wanted = models.default_model;
  if (wanted.empty() || wanted == fmt::format("{}/{}", offline_provider, offline_model)) return;
  const Models catalog(http, models, Prices());
  const auto chosen = catalog.resolve({});
  const auto* missing = std::get_if<NotConfigured>(&chosen);
  if (!missing) return;
  findings.push_back({"models.default", State::warning, fmt::format("{}: {}", wanted, missing->message),
                      "configure its provider, or set another models.default in config.yaml"});
}

bool is_installed(std::string_view program) {
  const char* places = std::getenv("PATH");
  std::istringstream path(places ? places : "/usr/bin:/bin");
  for (std::string place; std::getline(path, place, ':');) {
    if (::access((place + '/' + std::string(program)).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// What an app of the type is run with.
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

Task<Findings> check_models(Loop& loop, const Patient& patient) {
  Findings findings;
  if (!patient.settings) co_return findings;
  const auto models = configured_models(*patient.settings, process_environment());
  if (models.providers.empty()) {
    findings.push_back({"models", State::warning, "none is configured here: only the built-in librarian answers",
                        "set ANTHROPIC_API_KEY, OPENAI_API_KEY or OLLAMA_HOST, or providers in config.yaml"});
  }
  HttpClient http(loop);
  check_default_model(http, models, findings);
  Stop never;
  for (const auto& configured : models.providers) {
    if (!configured.problem.empty()) {
      findings.push_back({"model " + configured.name, State::warning, configured.problem});
      continue;
    }
    const auto provider = complete(configured);
    const auto ignore = [](const HttpHead&, std::string_view) { return BodyWish::abandon; };
    const auto outcome = co_await http.send(list_request(provider), ignore, never);
    findings.push_back(reached(provider, outcome));
    compare_clocks(outcome, findings);
  }
  co_return findings;
}

Task<Findings> check_apps(const Patient& patient) {
  Findings findings;
  if (!patient.gateway) co_return findings;
  std::string problem;
  try {
    const auto apps = co_await Client(*patient.gateway).get("/extensions?type=app&enabled=true");
    for (const auto& program : needed_programs(apps.as_array())) {
      if (is_installed(program))
        findings.push_back({"apps", State::good, fmt::format("{} is there", program)});
      else
        findings.push_back(
            {"apps", State::warning, fmt::format("{} is not installed, and an app needs it", program),
             fmt::format("install it: sudo apt-get install {}", program == "node" ? "nodejs" : program)});
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem.empty()) findings.push_back({"apps", State::skipped, problem});
  co_return findings;
}

}  // namespace agw::cli
