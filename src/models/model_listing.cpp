// Requests the list of models of a service. Each service has its own format for the list and for a model. The first
// half therefore reads any of these formats (`entry_of`), with limits on everything. The second half requests page by
// page until the list ends or time runs out (`ListingRequest`).

#include "models/model_listing.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <memory>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "io/http/web_url.hpp"
#include "models/failures.hpp"
#include "models/json_reader.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

using End = HttpOutcome::End;

constexpr std::size_t max_body_bytes = 32 * 1024 * 1024;
constexpr std::size_t max_listed_id = 256;
constexpr int max_pages = 100;
constexpr double priced_tokens = 1e6;
/// In USD for that many tokens, as in prices.yaml: keeps every sum of costs finite.
constexpr double max_listed_price = 1e6;

// Readers of the formats of services, which have different names for the same facts.

std::optional<std::int64_t> first_count(const json::object& model, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (const auto count = count_member(model, name); count && *count > 0) return count;
  }
  return std::nullopt;
}

const json::object& inner(const json::object& object, std::string_view name) {
  static const json::object none;
  const auto* member = object_member(object, name);
  return member ? *member : none;
}

bool contains_word(const json::object& object, std::string_view list, std::string_view word) {
  const auto* values = array_member(object, list);
  return values && std::ranges::any_of(*values, [&](const json::value& value) {
           return value.is_string() && std::string_view(value.get_string()) == word;
         });
}

std::optional<bool> flag(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (!value) return std::nullopt;
  if (value->is_bool()) return value->get_bool();
  // Anthropic: `{"supported": true}`
  const auto* described = value->if_object();
  return described ? flag(*described, "supported") : std::nullopt;
}

std::optional<double> amount(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (!value) return std::nullopt;
  if (value->is_number()) return value->to_number<double>();
  const auto text = text_member(object, name);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// OpenRouter's prices are texts, in USD per token. Negative ones mean that the price depends on the model that
/// answers; texts such as `nan` are none either.
std::optional<Price> price_of(const json::object& model) {
  const auto& pricing = inner(model, "pricing");
  const auto price = [&](std::string_view name) {
    auto usd = amount(pricing, name);
    if (usd) *usd *= priced_tokens;
    return usd && *usd >= 0 && *usd <= max_listed_price ? usd : std::nullopt;
  };
  const auto input = price("prompt");
  const auto output = price("completion");
  if (!input || !output) return std::nullopt;
  return Price{*input, *output, price("input_cache_read").value_or(*input),
               price("input_cache_write").value_or(*input)};
}

std::optional<bool> vision_of(const json::object& model) {
  const auto& architecture = inner(model, "architecture");
  if (array_member(architecture, "input_modalities")) return contains_word(architecture, "input_modalities", "image");
  for (const auto* list : {"supported_input_modalities", "input_modalities"}) {
    if (array_member(model, list)) return contains_word(model, list, "image");
  }
  if (const auto said = flag(inner(model, "capabilities"), "vision")) return said;
  if (const auto said = flag(inner(model, "capabilities"), "image_input")) return said;
  if (const auto said = flag(model, "supports_image_input")) return said;
  if (text_member(model, "type") == "vlm" || contains_word(model, "capabilities", "vision")) return true;
  return std::nullopt;
}

std::optional<bool> tools_of_model(const json::object& model) {
  if (array_member(model, "supported_parameters")) return contains_word(model, "supported_parameters", "tools");
  if (const auto said = flag(inner(model, "capabilities"), "function_calling")) return said;
  if (const auto said = flag(model, "supports_tools")) return said;
  if (contains_word(model, "capabilities", "tools") || contains_word(model, "capabilities", "tool_use")) return true;
  // Ollama lists all capabilities of a model.
  if (contains_word(model, "capabilities", "completion")) return false;
  return std::nullopt;
}

/// Whether the model is known to be for another purpose than chat, such as embeddings.
bool is_other_than_chat(const json::object& model) {
  if (array_member(model, "supportedGenerationMethods")) {
    return !contains_word(model, "supportedGenerationMethods", "generateContent");
  }
  if (flag(inner(model, "capabilities"), "completion_chat") == false) return true;
  static constexpr std::array<std::string_view, 8> others = {"embedding", "embeddings", "image",      "rerank",
                                                             "audio",     "moderation", "transcribe", "video"};
  return contains(others, text_member(model, "type"));
}

std::string id_of(const json::object& model) {
  // Ollama and Gemini use `name`; Google puts the collection in front.
  auto id = text_member(model, "id");
  if (id.empty()) id = text_member(model, "model");
  if (id.empty()) id = text_member(model, "name");
  if (id.starts_with("models/")) id.remove_prefix(7);
  return std::string(id);
}

bool is_id(std::string_view id) {
  return !id.empty() && id.size() <= max_listed_id && std::ranges::none_of(id, is_control);
}

ModelEntry entry_of(const json::object& model) {
  ModelEntry entry{.id = id_of(model)};
  entry.context_window = first_count(model, {"context_length", "context_window", "max_context_length", "max_model_len",
                                             "max_input_tokens", "inputTokenLimit"});
  if (!entry.context_window) entry.context_window = first_count(inner(model, "meta"), {"n_ctx", "n_ctx_train"});
  if (!entry.context_window) entry.context_window = first_count(inner(model, "limits"), {"max_input_tokens"});
  entry.max_output = first_count(model, {"max_completion_tokens", "outputTokenLimit", "max_output_tokens"});
  if (!entry.max_output) entry.max_output = first_count(inner(model, "top_provider"), {"max_completion_tokens"});
  if (!entry.max_output) entry.max_output = first_count(inner(model, "limits"), {"max_output_tokens"});
  entry.vision = vision_of(model);
  entry.tools = tools_of_model(model);
  entry.prices = price_of(model);
  return entry;
}

const json::array* list_in(const json::value& body) {
  if (const auto* list = body.if_array()) return list;
  const auto* object = body.if_object();
  if (!object) return nullptr;
  if (const auto* data = array_member(*object, "data")) return data;
  return array_member(*object, "models");
}

std::string next_page(const json::value& body) {
  const auto* object = body.if_object();
  if (!object) return {};
  if (is_true(*object, "has_more")) return std::string(text_member(*object, "last_id"));
  return std::string(text_member(*object, "nextPageToken"));
}

// Requests.

std::string with_parameters(std::string url, std::string_view parameters) {
  if (parameters.empty()) return url;
  url += url.find('?') == url.npos ? '?' : '&';
  url += parameters;
  return url;
}

bool ends_with_path(std::string_view base_url, std::string_view end) {
  return base_url.substr(0, base_url.find('?')).ends_with(end);
}

/// Azure lists models instead of deployments. The lists of GitHub and Cohere are beside their OpenAI-compatible APIs.
std::string openai_list_url(std::string_view base_url) {
  const auto url = boost::urls::parse_uri(base_url);
  if (url && url->host() == "models.github.ai") return "https://models.github.ai/catalog/models";
  if (url && url->host() == "api.cohere.ai") return "https://api.cohere.ai/v1/models?endpoint=chat&page_size=1000";
  const auto deployment = base_url.find("/deployments/{model}");
  if (deployment == base_url.npos) return service_url(base_url, "/models");
  const auto query = std::min(base_url.find('?'), base_url.size());
  return fmt::format("{}/models{}", base_url.substr(0, deployment), base_url.substr(query));
}

}  // namespace

std::string list_url(const ProviderSettings& settings, const std::string& page) {
  const auto& base = settings.base_url;
  const auto next = percent_encode(page);
  switch (settings.kind) {
    case ProviderKind::anthropic:
      return with_parameters(
          with_parameters(service_url(base, ends_with_path(base, "/v1") ? "/models" : "/v1/models"), "limit=1000"),
          page.empty() ? std::string() : "after_id=" + next);
    case ProviderKind::gemini:
      return with_parameters(with_parameters(service_url(base, gemini_version(base) + "/models"), "pageSize=1000"),
                             page.empty() ? std::string() : "pageToken=" + next);
    case ProviderKind::ollama:
      return service_url(base, ends_with_path(base, "/api") ? "/tags" : "/api/tags");
    case ProviderKind::openai:
      break;
  }
  return openai_list_url(base);
}

namespace {

std::vector<HttpHeader> list_headers(const ProviderSettings& settings) {
  std::vector<HttpHeader> headers{{"accept", "application/json"}};
  const auto& key = settings.api_key;
  if (settings.kind == ProviderKind::anthropic) {
    headers.push_back({"anthropic-version", "2023-06-01"});
    if (!key.empty()) headers.push_back({"x-api-key", key});
  } else if (!key.empty()) {
    const bool is_gemini = settings.kind == ProviderKind::gemini;
    headers.push_back(is_gemini ? HttpHeader{"x-goog-api-key", key} : HttpHeader{"authorization", "Bearer " + key});
  }
  headers.insert(headers.end(), settings.headers.begin(), settings.headers.end());
  return headers;
}

/// Explains a response that is not a list.
std::string problem_of(const HttpHead& head, const std::string& body, const std::string& url) {
  const auto provider_error = parse_provider_error(body);
  const auto said = provider_error.message.empty() ? std::string() : ": " + provider_error.message;
  const auto has = [&](std::string_view word) { return boost::icontains(body, word); };
  if (head.status >= 300 && head.status < 400) {
    const auto place = redacted_url(head.header("location").value_or(""));
    return fmt::format("it redirects to {}, where no key is sent; set base_url to the address that answers",
                       place.empty() ? "another address" : place);
  }
  const bool is_key = head.status == 401 || head.status == 403 ||
                      (head.status == 400 && (has("api key") || has("api_key") || has("apikey")));
  if (is_key) {
    return fmt::format("it refused the key ({}{}); check the key, and that it may list models", head.status, said);
  }
  if (head.status == 404 || head.status == 405) {
    return fmt::format("it has no {} ({}); check base_url, which for many services ends with /v1", redacted_url(url),
                       head.status);
  }
  return fmt::format("it answered {}{}", head.status, said);
}

/// Requests the list of one service, page by page.
class ListingRequest {
public:
  ListingRequest(HttpClient& http, BlockingPool& blocking, ProviderSettings settings, StopSource& stop)
      : http_(http), blocking_(blocking), settings_(complete(std::move(settings))), stop_(stop) {}

  Task<> run() {
    std::string next;
    for (int page = 0; page < max_pages && listing_.models.size() < max_listed_models; ++page) {
      next = co_await ask(list_url(settings_, next));
      if (next.empty() || !listing_.error.empty()) co_return;
    }
  }

  void fail(const std::string& error) { listing_ = {.error = without_keys(error, settings_)}; }
  Listing take() { return std::move(listing_); }

private:
  /// Returns the token of the next page; empty on the last page.
  Task<std::string> ask(std::string url) {
    HttpRequest request{.url = url,
                        .headers = list_headers(settings_),
                        .max_body_bytes = max_body_bytes,
                        .public_only = settings_.public_only,
                        .no_metadata = settings_.no_metadata};
    auto body = std::make_shared<std::string>();
    const auto take_bytes = [body](const HttpHead&, std::string_view bytes) {
      body->append(bytes);
      return BodyAction::more;
    };
    const auto outcome = co_await http_.send(std::move(request), take_bytes, stop_);
    if (outcome.end == End::too_large) {
      fail("it sent more than 32 MiB, which is not a list of models; check base_url");
    } else if (outcome.end != End::complete) {
      fail(fmt::format("it cannot be reached: {}; check base_url, and that the service runs", outcome.error));
    } else if (outcome.head.status != 200) {
      fail(problem_of(outcome.head, *body, url));
    } else {
      co_return co_await read(body);
    }
    co_return "";
  }

  Task<std::string> read(std::shared_ptr<const std::string> body) {
    auto page = co_await blocking_.run([body, kind = settings_.kind] { return read_listing(kind, *body); });
    if (!page.is_list) {
      fail(
          fmt::format("it does not speak this API: it answered {} instead of a list of models; choose another api, or "
                      "check base_url",
                      body->starts_with('<') ? "a web page" : "something else"));
      co_return "";
    }
    if (listing_.owner.empty()) listing_.owner = std::move(page.owner);
    auto& models = listing_.models;
    const auto room = std::min(max_listed_models - models.size(), page.models.size());
    std::move(page.models.begin(), page.models.begin() + static_cast<std::ptrdiff_t>(room), std::back_inserter(models));
    co_return page.next;
  }

  HttpClient& http_;
  BlockingPool& blocking_;
  const ProviderSettings settings_;
  StopSource& stop_;
  Listing listing_;
};

}  // namespace

ListingPage read_listing(ProviderKind kind, std::string_view body) {
  ListingPage page;
  const auto parsed = parse_json(body);
  const auto* list = parsed ? list_in(*parsed) : nullptr;
  if (!list) return page;
  // The members distinguish Ollama and Gemini from servers that answer in OpenAI's form.
  const bool must_list_models = kind == ProviderKind::ollama || kind == ProviderKind::gemini;
  const auto* object = parsed->if_object();
  if (must_list_models && !(object && object->contains("models"))) return page;
  page.is_list = true;
  std::unordered_set<std::string> seen;
  for (const auto& one : *list) {
    const auto* model = one.if_object();
    if (!model || is_other_than_chat(*model) || page.models.size() == max_listed_models) continue;
    if (page.owner.empty()) page.owner = text_member(*model, "owned_by");
    auto entry = entry_of(*model);
    if (is_id(entry.id) && seen.insert(entry.id).second) page.models.push_back(std::move(entry));
  }
  page.next = next_page(*parsed);
  return page;
}

Task<Listing> list_models(HttpClient& http, BlockingPool& blocking, ProviderSettings settings, StopSource& stop,
                          std::chrono::milliseconds limit) {
  ListingRequest asking(http, blocking, std::move(settings), stop);
  const auto end = co_await with_timeout(stop, limit, asking.run());
  if (end == WaitResult::timed_out) {
    asking.fail(fmt::format("it did not answer within {} s; check base_url, and that the service runs",
                            std::chrono::duration<double>(limit).count()));
  }
  if (end == WaitResult::stopped) asking.fail("the request was cancelled, because the gateway stops");
  co_return asking.take();
}

}  // namespace agw
