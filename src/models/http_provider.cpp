#include "models/http_provider.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.hpp"
#include "models/anthropic.hpp"
#include "models/ollama.hpp"
#include "models/openai_chat.hpp"
#include "models/openai_responses.hpp"

namespace agw {

namespace {

using Kind = ModelFailure::Kind;

constexpr std::size_t max_error_bytes = 64 * 1024;
constexpr std::size_t max_adjustments = 4;

std::unique_ptr<WireFormat> wire_of(const ProviderSettings& settings) {
  switch (settings.kind) {
    case ProviderKind::anthropic:
      return anthropic_wire(settings);
    case ProviderKind::ollama:
      return ollama_wire(settings);
    case ProviderKind::openai:
      break;
  }
  return settings.api == OpenAiApi::responses ? openai_responses_wire(settings) : openai_chat_wire(settings);
}

bool is_success(int status) { return status >= 200 && status < 300; }

/// Whether a request that was refused so may succeed in another form.
bool may_adjust(const ModelOutcome& outcome) {
  const auto* failure = std::get_if<ModelFailure>(&outcome);
  return failure && (failure->status == 400 || failure->status == 422);
}

}  // namespace

/// Takes the bytes of one answer: a stream for the reader, or an error to show.
class HttpProvider::Exchange {
public:
  Exchange(const WireFormat& wire, const OnDelta& on_delta) : wire_(wire), reader_(wire.reader(on_delta)) {}

  BodyWish take(const HttpHead& head, std::string_view bytes) {
    if (!is_success(head.status)) {
      error_body_.append(bytes.substr(0, max_error_bytes - error_body_.size()));
      return error_body_.size() < max_error_bytes ? BodyWish::more : BodyWish::enough;
    }
    if (!splitter_) open(head);
    if (splitter_ && !splitter_->feed(bytes)) reader_->fail(Kind::protocol, "sent a message without end");
    if (reader_->failed()) return BodyWish::abandon;
    return reader_->ended() ? BodyWish::enough : BodyWish::more;
  }

  ModelOutcome finish(const HttpOutcome& http, Complaint& complaint) {
    using End = HttpOutcome::End;
    if (http.end == End::stopped) return failure(Kind::stopped, "was stopped");
    if (http.head.status != 0 && !is_success(http.head.status)) {
      complaint = complaint_of_body(error_body_);
      return failure_of_answer(http.head, complaint, SystemClock().now());
    }
    if (http.end == End::complete) {
      if (splitter_) splitter_->finish();
      return reader_->outcome();
    }
    if (reader_->complete()) return reader_->outcome();
    return failure(http.end == End::too_large ? Kind::protocol : Kind::unavailable, describe(http));
  }

private:
  void open(const HttpHead& head) {
    const auto type = head.header("content-type").value_or(std::string_view());
    if (type.starts_with("text/html")) return reader_->fail(Kind::protocol, "sent a web page instead of an answer");
    splitter_ = wire_.splitter(type, [this](const Frame& frame) { reader_->read(frame); });
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

  const WireFormat& wire_;
  std::unique_ptr<AnswerReader> reader_;
  std::unique_ptr<FrameSplitter> splitter_;
  std::string error_body_;
};

HttpProvider::HttpProvider(HttpClient& http, ProviderSettings settings, std::chrono::milliseconds silence_limit)
    : http_(http), settings_(complete(std::move(settings))), silence_limit_(silence_limit), wire_(wire_of(settings_)) {}

HttpProvider::~HttpProvider() = default;

Task<ModelOutcome> HttpProvider::answer(const ModelRequest& request, const OnDelta& on_delta, Stop& stop) {
  json::value body = wire_->request(request);
  auto& members = body.get_object();
  if (const auto known = complaints_.find(request.model); known != complaints_.end()) {
    for (const auto& complaint : known->second) wire_->adjust(members, complaint);
  }
  std::vector<Complaint> learned;
  for (;;) {
    Complaint complaint;
    auto outcome = co_await ask(body, on_delta, stop, complaint);
    if (auto* failure = std::get_if<ModelFailure>(&outcome)) *failure = in_my_name(std::move(*failure));
    if (may_adjust(outcome) && learned.size() < max_adjustments && wire_->adjust(members, complaint)) {
      log::info("the request to {} is sent again without what it refused: {}", request.model,
                std::get<ModelFailure>(outcome).message);
      learned.push_back(std::move(complaint));
      continue;
    }
    if (std::holds_alternative<ModelReply>(outcome) && !learned.empty()) {
      auto& known = complaints_[request.model];
      std::ranges::move(learned, std::back_inserter(known));
    }
    co_return outcome;
  }
}

Task<ModelOutcome> HttpProvider::ask(const json::value& body, const OnDelta& on_delta, Stop& stop,
                                     Complaint& complaint) {
  Exchange exchange(*wire_, on_delta);
  const auto http = co_await http_.send(
      http_request(body),
      [&exchange](const HttpHead& head, std::string_view bytes) { return exchange.take(head, bytes); }, stop);
  co_return exchange.finish(http, complaint);
}

HttpRequest HttpProvider::http_request(const json::value& body) const {
  HttpRequest request{.method = "POST", .url = wire_->url(), .headers = wire_->headers()};
  request.headers.push_back({"content-type", "application/json"});
  request.headers.push_back({"accept", "text/event-stream, application/x-ndjson, application/json"});
  request.body = to_json(body);
  request.silence_limit = silence_limit_;
  return request;
}

ModelFailure HttpProvider::in_my_name(ModelFailure failure) const {
  failure.message = settings_.name + " " + redact(failure.message, settings_.api_key);
  return failure;
}

}  // namespace agw
