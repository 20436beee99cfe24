#include "models/http_provider.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/json/json_size.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "models/adjustments.hpp"
#include "models/call_features.hpp"
#include "models/fitting_names.hpp"
#include "models/json_reader.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

using Kind = ModelFailure::Kind;

constexpr std::size_t max_error_bytes = 64 * 1024;
constexpr std::size_t max_adjustments = 8;
constexpr std::size_t max_known_models = 100;

std::unique_ptr<WireFormat> format_of(const ProviderSettings& settings) {
  switch (settings.kind) {
    case ProviderKind::anthropic:
      return anthropic_format(settings);
    case ProviderKind::ollama:
      return ollama_format(settings);
    case ProviderKind::gemini:
      return gemini_format(settings);
    case ProviderKind::openai:
      break;
  }
  return settings.api == OpenAiApi::responses ? openai_responses_format(settings) : openai_chat_format(settings);
}

/// The path of an OpenAI-compatible embeddings endpoint; empty if the service has none.
std::string embeddings_path(const ProviderSettings& settings) {
  switch (settings.kind) {
    case ProviderKind::anthropic:
      return {};
    case ProviderKind::ollama:
      return "/v1/embeddings";
    case ProviderKind::gemini:
      return gemini_version(settings.base_url) + "/openai/embeddings";
    case ProviderKind::openai:
      break;
  }
  return "/embeddings";
}

/// The vector as OpenAI encodes it: 32-bit floats in base64. No value if the service has encoded it already.
std::optional<std::string> encoded_vector(const json::value& vector) {
  static_assert(std::endian::native == std::endian::little, "the floats are in this order");
  constexpr double limit = std::numeric_limits<float>::max();
  if (!vector.is_array()) return std::nullopt;
  std::string bytes;
  for (const auto& element : vector.get_array()) {
    if (!element.is_number()) return std::nullopt;
    const auto number = static_cast<float>(std::clamp(element.to_number<double>(), -limit, limit));
    bytes.append(std::bit_cast<std::array<char, sizeof number>>(number).data(), sizeof number);
  }
  return base64(bytes);
}

/// Many services ignore `encoding_format`, but OpenAI's library decodes whatever it gets.
void encode_vectors(json::object& answer) {
  auto* data = answer.if_contains("data");
  if (!data || !data->is_array()) return;
  for (auto& entry : data->get_array()) {
    auto* embedding = entry.is_object() ? entry.get_object().if_contains("embedding") : nullptr;
    if (auto encoded = embedding ? encoded_vector(*embedding) : std::nullopt) *embedding = *encoded;
  }
}

/// From this size on, writing a request would hold the loop for milliseconds.
constexpr std::size_t large_request = 256 * 1024;  // bytes

bool is_large(const ModelRequest& request) {
  std::size_t size = request.system.size();
  for (const auto& message : request.messages) {
    size += message.text.size();
    for (const auto& image : message.images) size += image.bytes.size();
    for (const auto& use : message.tool_uses) size += json_size(use.input, large_request);
    size += json_size(message.provider_blocks, large_request);
    if (size >= large_request) return true;
  }
  for (const auto& tool : request.tools) size += tool.description.size() + tool.input_schema.text_size();
  return size >= large_request;
}

bool is_success(int status) { return status >= 200 && status < 300; }

/// Whether the request may succeed if it is adjusted. If a model's template refuses it, llama.cpp answers 500, and LM
/// Studio 200 with the error in the stream.
bool may_adjust(const ModelOutcome& outcome, const ProviderError& provider_error) {
  const auto* failure = std::get_if<ModelFailure>(&outcome);
  if (!failure) return false;
  const bool is_of_template = provider_error.mentions({"emplate", "inja", "alternate", "raise_exception"});
  const bool may_be_of_template = failure->status == 500 || failure->status == 0;
  return failure->status == 400 || failure->status == 422 || (may_be_of_template && is_of_template) ||
         is_without_tools(provider_error);
}

/// Whether the error names the levels of reasoning that the model has.
bool names_efforts(const ProviderError& provider_error) {
  return provider_error.mentions("high") && provider_error.mentions("effort");
}

/// Whether the error says that the model does not take the request to think, without which it may answer. Other errors
/// about thinking are about the conversation.
bool may_leave_out_thinking(const ModelRequest& request, const ProviderError& provider_error) {
  const bool is_about_thinking = provider_error.mentions({"easoning", "hinking", "effort"});
  const bool is_unknown =
      provider_error.mentions({"support", "permitted", "must be one of", "nknown", "nrecognized", "nexpected"});
  return request.options.thinks_if_able && is_about_thinking && is_unknown;
}

}  // namespace

/// Receives one response: a stream for the reader, or an error.
class HttpProvider::PendingResponse {
public:
  PendingResponse(const WireFormat& format, const OnDelta& on_delta)
      : format_(format), reader_(format.reader(on_delta)) {}

  BodyAction take(const HttpHead& head, std::string_view bytes) {
    if (!is_success(head.status)) {
      AGW_ASSERT(error_body_.size() <= max_error_bytes);
      error_body_.append(bytes.substr(0, max_error_bytes - error_body_.size()));
      return error_body_.size() < max_error_bytes ? BodyAction::more : BodyAction::enough;
    }
    if (!splitter_) open(head, bytes);
    if (splitter_ && !splitter_->feed(bytes)) reader_->fail(Kind::protocol, "sent a message without end");
    if (reader_->failed()) return BodyAction::abandon;
    return reader_->ended() ? BodyAction::enough : BodyAction::more;
  }

  AnswerReader& reader() { return *reader_; }

  ModelOutcome finish(const HttpOutcome& http, ProviderError& provider_error) {
    using End = HttpOutcome::End;
    if (http.end == End::stopped) return failure(Kind::stopped, "was stopped");
    if (http.head.status != 0 && !is_success(http.head.status)) {
      provider_error = parse_provider_error(error_body_);
      return response_failure(http.head, provider_error, SystemClock().now());
    }
    if (http.end == End::complete) {
      if (splitter_) splitter_->finish();
      auto outcome = reader_->outcome();
      if (const auto* refusal = reader_->refusal()) provider_error = *refusal;
      return outcome;
    }
    if (reader_->complete()) return reader_->outcome();
    auto failed = failure(http.end == End::too_large ? Kind::protocol : Kind::unavailable, describe(http));
    failed.is_lasting = http.is_lasting;
    return failed;
  }

private:
  void open(const HttpHead& head, std::string_view bytes) {
    const auto type = head.header("content-type").value_or(std::string_view());
    if (type.starts_with("text/html")) return reader_->fail(Kind::protocol, "sent a web page instead of an answer");
    const auto start = bytes.find_first_not_of(white_space);
    if (start == bytes.npos) return;
    splitter_ = format_.splitter(bytes[start], [this](const Frame& frame) { reader_->read(frame); });
  }

  static std::string describe(const HttpOutcome& http) {
    if (http.end == HttpOutcome::End::silent) return "fell silent: " + http.error;
    return (http.head.status == 0 ? "cannot be reached: " : "broke off its answer: ") + http.error;
  }

  ModelFailure failure(Kind kind, std::string message) const {
    ModelFailure failure;
    failure.kind = kind;
    failure.message = std::move(message);
    failure.usage = reader_->usage();
    return failure;
  }

  const WireFormat& format_;
  std::unique_ptr<AnswerReader> reader_;
  std::unique_ptr<FrameSplitter> splitter_;
  std::string error_body_;
};

HttpProvider::HttpProvider(HttpClient& http, BlockingPool& blocking, ProviderSettings settings,
                           std::chrono::milliseconds idle_timeout)
    : http_(http),
      blocking_(blocking),
      settings_(complete(std::move(settings))),
      silence_limit_(idle_timeout),
      format_(format_of(settings_)) {}

HttpProvider::~HttpProvider() = default;

const CallFeature* HttpProvider::unsupported(const ModelRequest& request) const {
  return unsupported_feature(request, settings_);
}

Task<HttpProvider::Body> HttpProvider::write_body(const ModelRequest& request,
                                                  const std::vector<ProviderError>& errors) const {
  co_return co_await blocking_.run_if(is_large(request), [&] {
    Body body;
    json::value value = format_->request(request);
    auto& object = value.get_object();
    for (const auto& error : errors) {
      body.fits_value = fit_limit(object, error.message) ||
                        (request.options.thinks_if_able && names_efforts(error) && fit_effort(object));
      body.has_last_change = body.fits_value || (is_without_tools(error) && leave_out_tools(object)) ||
                             format_->adjust(object, error) ||
                             (may_leave_out_thinking(request, error) && leave_out_thinking(object));
    }
    body.text = to_json(value);
    return body;
  });
}

Task<ModelOutcome> HttpProvider::answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) {
  const FittingNames names(request, settings_.kind);
  if (names.empty()) co_return co_await answer_adjusted(request, on_delta, stop);
  auto fitting = request;
  names.apply(fitting);
  const OnDelta restoring = [&](const Delta& delta) { on_delta(names.restored(delta)); };
  auto outcome = co_await answer_adjusted(fitting, restoring, stop);
  names.restore(outcome);
  co_return outcome;
}

Task<ModelOutcome> HttpProvider::answer_adjusted(const ModelRequest& request, const OnDelta& on_delta,
                                                 StopSource& stop) {
  std::vector<ProviderError> errors;
  std::vector<ProviderError> learned;
  if (const auto known = known_errors_.find(request.model); known != known_errors_.end()) errors = known->second;
  const auto known_count = errors.size();
  auto body = co_await write_body(request, errors);
  for (;;) {
    ProviderError provider_error;
    auto outcome = co_await ask(request.model, std::move(body.text), on_delta, stop, provider_error);
    if (auto* failure = std::get_if<ModelFailure>(&outcome)) *failure = with_provider_name(std::move(*failure));
    if (may_adjust(outcome, provider_error) && errors.size() < known_count + max_adjustments) {
      errors.push_back(std::move(provider_error));
      body = co_await write_body(request, errors);
      if (!body.has_last_change) co_return outcome;
      // A value that this request needs may be too low for others.
      if (!body.fits_value) learned.push_back(errors.back());
      log::info("the request to {} is sent again without the parts that it rejected: {}", request.model,
                std::get<ModelFailure>(outcome).message);
      continue;
    }
    if (std::holds_alternative<ModelReply>(outcome) && !learned.empty()) remember(request.model, learned);
    co_return outcome;
  }
}

void HttpProvider::remember(const std::string& model, const std::vector<ProviderError>& errors) {
  if (known_errors_.size() >= max_known_models && !known_errors_.contains(model))
    known_errors_.erase(known_errors_.begin());
  auto& known = known_errors_[model];
  for (const auto& error : errors) {
    // A request at the same time may have learned it too.
    if (!contains(known, error.message, &ProviderError::message)) known.push_back(error);
  }
}

Task<ModelOutcome> HttpProvider::ask(const std::string& model, std::string body, const OnDelta& on_delta,
                                     StopSource& stop, ProviderError& provider_error) {
  PendingResponse response(*format_, on_delta);
  if (thinking_without_tag_.contains(model)) response.reader().expect_thoughts();
  const auto http = co_await http_.send(
      http_request(format_->url(model), std::move(body)),
      [&response](const HttpHead& head, std::string_view bytes) { return response.take(head, bytes); }, stop);
  auto outcome = response.finish(http, provider_error);
  if (std::holds_alternative<ModelReply>(outcome)) {
    thinking_without_tag_.erase(model);
    const bool has_room = thinking_without_tag_.size() < max_known_models;
    if (response.reader().thinks_without_tag() && has_room) thinking_without_tag_.insert(model);
  }
  co_return outcome;
}

Task<std::variant<json::object, ModelFailure>> HttpProvider::embed(json::object body, StopSource& stop) {
  const auto path = embeddings_path(settings_);
  if (path.empty()) co_return co_await Provider::embed(std::move(body), stop);
  const bool in_base64 = string_member(body, "encoding_format") == "base64";
  auto request = http_request(service_url(settings_.base_url, path), to_json(body));
  // All other services expect the key as OpenAI does.
  if (settings_.kind == ProviderKind::gemini)
    request.headers.push_back({"authorization", "Bearer " + settings_.api_key});
  std::string content;
  const auto http = co_await http_.send(
      std::move(request),
      [&content](const HttpHead&, std::string_view bytes) {
        content += bytes;
        return BodyAction::more;
      },
      stop);
  ModelFailure failure;
  if (http.end == HttpOutcome::End::complete && is_success(http.head.status)) {
    if (auto answer = parse_object(content)) {
      if (in_base64) encode_vectors(*answer);
      co_return std::move(*answer);
    }
    failure.kind = Kind::protocol;
    failure.message = "sent something other than a JSON object";
  } else if (http.end == HttpOutcome::End::complete) {
    const auto error = parse_provider_error(content);
    failure = response_failure(http.head, error, SystemClock().now());
    failure.param = error.param;
  } else {
    failure.kind = http.end == HttpOutcome::End::stopped ? Kind::stopped : Kind::unavailable;
    failure.message = "cannot be reached: " + http.error;
    failure.is_lasting = http.is_lasting;
  }
  co_return with_provider_name(std::move(failure));
}

HttpRequest HttpProvider::http_request(const std::string& url, std::string body) const {
  HttpRequest request{.method = "POST", .url = url, .headers = format_->headers()};
  for (const auto& header : settings_.headers) request.headers.push_back(header);
  request.headers.push_back({"content-type", "application/json"});
  request.headers.push_back({"accept", "text/event-stream, application/x-ndjson, application/json"});
  request.body = std::move(body);
  request.idle_timeout = silence_limit_;
  request.public_only = settings_.public_only;
  request.no_metadata = settings_.no_metadata;
  return request;
}

ModelFailure HttpProvider::with_provider_name(ModelFailure failure) const {
  failure.message = settings_.name + " " + without_keys(failure.message, settings_);
  return failure;
}

}  // namespace agw
