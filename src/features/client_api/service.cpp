// Answers programs that use the API of a model service.
//
// A *request* was read by its protocol's reader, and its *writer* turns the answer into bytes; this file is independent
// of the protocol. The name of the model decides: `<service>/<model>` is sent to that service (`pass_through`), the
// name of an agent to the agent (`answer_by_agent`).
//
// The invariants: an error before the first byte has its status; after it, the stream ends with an error of the
// protocol. The cost of a call is counted before the connection is released, even if the program has disconnected. A
// request that cannot be fulfilled completely is refused.
//
//   1. A model: check its features and the budget, fetch pictures, call it with its fallbacks. If the program
//      disconnects, the call is cancelled.
//   2. An agent: add a turn and a run to a thread, as for people. The program follows the run until that ends or waits
//      for the program's own tools. If the program disconnects, the run continues, and the next request of the
//      conversation finds it.
//   3. `wait_until_idle` waits for both, so that a graceful stop of the gateway interrupts no answer.
//
// A kill while a model answers loses the answer and its cost. The run of an agent is ended by the next start, which
// keeps the text so far.

#include "features/client_api/service.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "api/failure.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/async/task_group.hpp"
#include "base/containers.hpp"
#include "base/id.hpp"
#include "base/json/bounded_json.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/client_api/client_connection.hpp"
#include "features/client_api/event_sender.hpp"
#include "features/client_api/failures.hpp"
#include "features/client_api/instructions.hpp"
#include "features/client_api/parameters.hpp"
#include "features/client_api/pictures.hpp"
#include "features/runs/service.hpp"
#include "models/adjustments.hpp"
#include "models/call_features.hpp"
#include "models/json_reader.hpp"
#include "models/retry.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

/// Bytes. Parsing or destroying a larger body could block the loop.
constexpr std::size_t max_body_on_loop = 256 * 1024;
/// Limits the values of a body, because they are copied on the loop.
constexpr std::size_t max_values = 500'000;
constexpr std::size_t max_stores = 256;  // concurrent writes of costs; if there are more, requests wait for the disk

ApiError model_not_found(const std::string& name, std::string_view why) {
  return client_error(404, fmt::format("The model `{}` does not exist: {}", name, why), "model", "model_not_found");
}

ApiError over_budget() {
  return client_error(429, "the daily budget is used up: raise budget_usd_per_day, or wait for the next day", {},
                      "insufficient_quota");
}

/// Sends an answer to a program: as a stream of events, if requested, otherwise as a whole.
class AnswerSender {
public:
  AnswerSender(ClientConnection& connection, ResponseStream& stream, AnswerWriter& writer, bool streams,
               ClientAnswer answer, Fields fields = {})
      : connection_(connection),
        stream_(stream),
        writer_(writer),
        streams_(streams),
        fields_(std::move(fields)),
        answer_(std::move(answer)) {
    if (streams_) connection_.begin_events([&writer] { return writer.keep_alive(); }, fields_);
  }

  ClientAnswer& answer() { return answer_; }

  /// Begins the stream, if the answer is streamed and that has not happened.
  void begin() {
    if (streams_ && !std::exchange(has_begun_, true)) connection_.send_event(writer_.begin(answer_));
  }

  /// Adds the delta to the answer, and sends it if the answer is streamed.
  void take(const Delta& delta) {
    if (delta.kind == Delta::Kind::service_tier) {
      answer_.service_tier = delta.text;
      return;
    }
    AGW_ASSERT(!has_ended_);
    begin();
    if (delta.kind == Delta::Kind::text) answer_.text += delta.text;
    if (delta.kind == Delta::Kind::reasoning) answer_.reasoning += delta.text;
    if (streams_) connection_.send_event(writer_.delta(answer_, delta));
  }

  /// Ends a stream with an error. Returns false if the status of the response must tell it.
  bool fail(const ApiError& error) {
    AGW_ASSERT(!has_ended_);
    if (!connection_.begun() && !(streams_ && writer_.tells_in_stream(error))) return false;
    has_ended_ = true;
    begin();
    stream_.mark_failed();
    connection_.send_event(writer_.fail(answer_, error));
    return true;
  }

  /// A stream must have begun.
  Task<> finish() {
    AGW_ASSERT(!has_ended_);
    AGW_ASSERT(has_begun_ || !streams_);
    has_ended_ = true;
    if (!streams_) co_return co_await ClientApi::respond(stream_, writer_.body(answer_), fields_);
    connection_.send_event(writer_.end(answer_));
  }

private:
  ClientConnection& connection_;
  ResponseStream& stream_;
  AnswerWriter& writer_;
  const bool streams_;
  const Fields fields_;
  ClientAnswer answer_;
  bool has_begun_ = false;
  bool has_ended_ = false;
};

/// Moves the call out of `request`, and completes it for the model.
ModelRequest take_call(ClientRequest& request, const ModelChoice& choice) {
  auto call = std::move(request.call);
  call.options.streams_calls = request.stream;
  for (auto& message : call.messages) {
    if (message.provider_blocks_of == request.model) message.provider_blocks_of = choice.id();
  }
  if (call.options.limits_output)
    call.options.output_ceiling = call.max_output_tokens;
  else
    call.max_output_tokens = std::numeric_limits<std::int64_t>::max();
  return call;
}

/// Sets the members of `answer` that are known only at its end.
void complete(ClientAnswer& answer, ModelReply reply) {
  answer.stop = reply.stop;
  answer.stop_sequence = std::move(reply.stop_sequence);
  answer.service_tier = std::move(reply.service_tier);
  answer.usage = reply.usage;
  answer.tool_uses = std::move(reply.tool_uses);
  answer.provider_blocks = std::move(reply.provider_blocks);
}

/// The parameter with the messages.
constexpr CallFeature conversation_feature{"messages", "input", "messages", {}};

/// The error if the run gave no answer; otherwise no value.
std::optional<ApiError> failure_of(const AgentRun& run, const ClientAnswer& answer, const AnswerWriter& writer) {
  if (run.over_budget() && answer.text.empty()) return over_budget();
  if (!run.has_ended() || run.error().empty()) return std::nullopt;
  return agent_failure(run.error(), run.model_failure(), run.settings(), writer.name_of(conversation_feature));
}

/// Vision depends on the model, not on the API of its service, so it is not in the table of API features.
constexpr CallFeature pictures_feature{"messages[].content[].image_url", "input[].content[].image_url",
                                       "messages[].content[].source", has_picture};

ApiError cannot_do(const CallFeature& feature, const AnswerWriter& writer, std::string_view who) {
  return bad_parameter(std::string(writer.name_of(feature)),
                       fmt::format("{} cannot do this: leave it out, or ask another model", who),
                       "unsupported_parameter");
}

/// Rejects features that agents do not support, because they control their calls themselves, and features that the
/// agent's model does not support.
void check_for_agent(const Models& models, const Extension& agent, const ModelRequest& call,
                     const AnswerWriter& writer) {
  for (const auto& feature : call_features()) {
    if (!feature.by_agents && feature.is_asked(call)) throw cannot_do(feature, writer, "an agent");
  }
  const auto model = models.resolve(string_or_empty(agent.definition.members(), "model"));
  const auto* choice = std::get_if<ModelChoice>(&model);
  const auto* feature = choice ? choice->provider->unsupported(call) : nullptr;
  if (!feature && choice && asks_with_picture(call.messages) && !models.info(*choice).vision)
    feature = &pictures_feature;
  if (feature) throw cannot_do(*feature, writer, fmt::format("the agent's model, {},", choice->id()));
}

/// Turns all deferred tools into ordinary ones, because agents defer tools in their own way.
void define_deferred_tools(ModelRequest& call) {
  if (!call.deferred_tools) return;
  for (const auto& tool : *call.deferred_tools) {
    if (!contains(call.tools, tool.name, &ToolDescription::name)) call.tools.push_back(tool);
  }
  call.deferred_tools.reset();
}

/// Ignores failures to store the response: the answer is already in the thread, so the program can get it.
Task<> before_end(AnswerWriter& writer, const ClientAnswer& answer) {
  try {
    co_await writer.before_end(answer);
  } catch (const std::exception& error) {
    log::error("the response to a program could not be stored: {}", error.what());
  }
}

}  // namespace

ClientApi::ClientApi(const ClientServices& services, std::size_t body_limit)
    : services_(services),
      body_limit_(body_limit),
      models_(services.models, services.extensions),
      agents_(services.loop, services.database, services.threads, services.runs, services.attachments, services.engine),
      all_ended_(services.loop),
      stores_(services.loop) {}

std::shared_ptr<void> ClientApi::count_answer() {
  ++answers_;
  return {nullptr, [this](void*) {
            AGW_ASSERT(answers_ > 0);
            if (--answers_ == 0) all_ended_.pulse();
          }};
}

Task<> ClientApi::wait_until_idle() {
  while (answers_ > 0) co_await all_ended_.wait();
  // Runs come last, because programs may start runs, but runs do not start answers here.
  co_await services_.runs.until_none();
}

Task<std::shared_ptr<json::object>> ClientApi::read_body(ProxyStream& stream) const {
  std::string content;
  for (;;) {
    const auto piece = co_await stream.read();
    if (!piece) throw client_error(400, "the request ended too early");
    if (piece->empty()) break;
    content += *piece;
    if (content.size() > body_limit_) throw body_too_large();
  }
  const bool is_large = content.size() > max_body_on_loop;
  auto body = std::make_unique<json::object>(co_await parse(std::move(content)));
  if (!is_large) co_return std::shared_ptr<json::object>(std::move(body));
  co_return std::shared_ptr<json::object>(body.release(), [&blocking = services_.blocking](json::object* read) {
    blocking.destroy(std::unique_ptr<json::object>(read));
  });
}

Task<json::object> ClientApi::parse(std::string content) const {
  if (content.empty()) throw body_required();
  auto parsed = co_await services_.blocking.run_if(content.size() > max_body_on_loop, [&content] {
    return parse_bounded_json(content, {.max_values = max_values});
  });
  if (parsed.has_too_many_values) throw BadRequest("Request body has over 500,000 values");
  if (!parsed.value) throw BadRequest("Invalid JSON");
  if (!parsed.value->is_object()) throw BadRequest("Request body must be an object");
  co_return std::move(parsed.value->get_object());
}

Task<> ClientApi::respond(ResponseStream& stream, std::string body, Fields fields) {
  fields.emplace_back("Content-Type", json_content_type);
  ResponseHead head{.fields = std::move(fields), .length = body.size()};
  co_await stream.send_whole(std::move(head), body);
}

Task<> ClientApi::answer(ClientRequest request, AnswerWriter& writer, ResponseStream& stream) {
  const auto counted = count_answer();
  if (const auto agent = services_.extensions.find_agent(request.model)) {
    if (!agent->enabled) throw model_not_found(request.model, "the agent is disabled");
    co_return co_await answer_by_agent(std::move(request), agent, writer, stream);
  }
  auto choice = require_model(request, writer);
  co_await pass_through(std::move(request), std::move(choice), writer, stream);
}

void ClientApi::require(const std::string& name) const {
  const auto agent = services_.extensions.find_agent(name);
  if (!agent) {
    find_model(name);
  } else if (!agent->enabled) {
    throw model_not_found(name, "the agent is disabled");
  }
}

ModelChoice ClientApi::find_model(const std::string& name) const {
  if (name.find('/') == std::string::npos) {
    throw model_not_found(name, "no agent has this name, and a model is `<service>/<model>`");
  }
  if (const auto problem = services_.models.service_problem(name); !problem.empty())
    throw model_not_found(name, problem);
  return std::get<ModelChoice>(services_.models.resolve(name));
}

ModelChoice ClientApi::require_model(const ClientRequest& request, const AnswerWriter& writer) const {
  auto choice = find_model(request.model);
  if (request.thread_id) {
    throw bad_parameter(request.thread_param, "models have no threads: leave it out, or ask an agent",
                        "unsupported_parameter");
  }
  if (request.wants_storing) {
    throw bad_parameter("store", "answers of models are not stored: leave it out, or ask an agent",
                        "unsupported_value");
  }
  if (const auto* feature = choice.provider->unsupported(request.call)) {
    throw cannot_do(*feature, writer, choice.provider_name);
  }
  if (!choice.takes_tools && !request.call.tools.empty()) {
    throw bad_parameter("tools", fmt::format("{} calls no tools", choice.id()), "unsupported_parameter");
  }
  if (!choice.takes_pictures && has_picture(request.call)) throw cannot_do(pictures_feature, writer, choice.id());
  // The program's own number is better than ours.
  if (choice.is_limit_assumed && request.call.options.limits_output) choice.output_token_limit = max_token_count;
  return choice;
}

void ClientApi::require_budget() const {
  if (!services_.costs.may_spend()) throw over_budget();
}

Task<> ClientApi::warm_up(const ClientRequest& request, AnswerWriter& writer, ResponseStream& stream) const {
  require(request.model);
  const auto answer = new_answer(request);
  auto events = writer.begin(answer);
  co_await writer.before_end(answer);
  events += writer.end(answer);
  co_await stream.send(events);
}

/// The model, followed by those of its fallbacks that support the request.
std::vector<ModelChoice> ClientApi::with_fallbacks(ModelChoice choice, const ModelRequest& call) const {
  const bool needs_vision = has_picture(call);
  auto choices = services_.models.fallbacks_of(choice);
  std::erase_if(choices, [&](const ModelChoice& fallback) {
    return fallback.provider->unsupported(call) || (!fallback.takes_tools && !call.tools.empty()) ||
           (needs_vision && !services_.models.info(fallback).vision);
  });
  choices.insert(choices.begin(), std::move(choice));
  return choices;
}

Task<> ClientApi::pass_through(ClientRequest request, ModelChoice choice, AnswerWriter& writer,
                               ResponseStream& stream) {
  require_budget();
  ClientConnection connection(services_.loop, stream);
  std::optional<AnswerSender> sender;
  std::exception_ptr failure;
  std::optional<UnstoredSpending> spent;
  try {
    co_await fetch_pictures(request, connection.disconnected());
    request.call.messages = with_pictures_of_tools(with_instructions_after_results(std::move(request.call.messages)));
    sender.emplace(connection, stream, writer, request.stream, new_answer(request));
    auto call = take_call(request, choice);
    auto choices = with_fallbacks(std::move(choice), call);
    auto completion = co_await answer_with_retries(
        std::move(choices), std::move(call), [&sender](const Delta& delta) { sender->take(delta); },
        connection.disconnected());
    spent = count(request, completion);
    if (const auto* problem = std::get_if<ModelFailure>(&completion.outcome))
      throw client_failure(*problem, writer.name_of(conversation_feature));
    complete(sender->answer(), std::get<ModelReply>(std::move(completion.outcome)));
    sender->begin();
    co_await writer.before_end(sender->answer());
    co_await sender->finish();
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure && sender) {
    const auto [error, cause] = as_failure(failure);
    if (sender->fail(error)) {
      failure = nullptr;
      if (!cause.empty()) log::error("an answer to a program failed: {}", cause);
    }
  }
  co_await connection.close();
  if (spent) co_await store_later(*std::move(spent));
  if (failure) std::rethrow_exception(failure);
}

ClientAnswer ClientApi::new_answer(const ClientRequest& request) const {
  using std::chrono::seconds;
  const auto now = std::chrono::duration_cast<seconds>(services_.clock.now().time_since_epoch());
  return {.id = random_hex(answer_id_digits / 2), .model = request.model, .created = now.count()};
}

Task<> ClientApi::answer_by_agent(ClientRequest request, ExtensionPointer agent, AnswerWriter& writer,
                                  ResponseStream& stream) {
  join_instructions(request);
  check_for_agent(services_.models, *agent, request.call, writer);
  define_deferred_tools(request.call);
  co_await fetch_pictures(request, stream.stop_source());
  for (auto& message : request.call.messages) leave_out_documents(message);
  co_await services_.blocking.run_if(has_picture(request.call), [&request] { digest_pictures(request); });
  const auto [run, thread_id] = co_await agents_.start(agent, request);
  ClientConnection connection(services_.loop, stream, request.is_repeatable);
  auto answer = new_answer(request);
  answer.thread_id = thread_id;
  AnswerSender sender(connection, stream, writer, request.stream, std::move(answer), {{"X-Thread-Id", thread_id}});
  run->follow([&sender](const Delta& delta) { sender.take(delta); });
  const auto waited = co_await with_timeout(connection.disconnected(), no_limit, run->wait_until_paused());
  AGW_ASSERT(waited != WaitResult::timed_out);
  run->finish(sender.answer());
  std::optional<ApiError> failed;
  if (waited == WaitResult::done) {
    co_await agents_.store_continuation(run);
    failed = failure_of(*run, sender.answer(), writer);
    if (!failed) {
      sender.begin();
      co_await before_end(writer, sender.answer());
      co_await sender.finish();
    } else if (sender.fail(*failed)) {
      failed.reset();
    }
  } else {
    agents_.store_continuation_later(run);
  }
  co_await connection.close();
  if (failed) throw ApiError(*failed);
}

Task<json::object> ClientApi::embed(json::object body, const std::string& client, ResponseStream& stream) {
  const auto counted = count_answer();
  Parameters parameters(body);
  ClientRequest request{.model = parameters.required_text("model"), .client = client};
  if (!parameters.find("input")) throw bad_parameter("input", "is missing");
  if (services_.extensions.find_agent(request.model))
    throw bad_parameter("model", "must be a model: agents make no embeddings", "unsupported_value");
  const auto choice = find_model(request.model);
  require_budget();
  ClientConnection connection(services_.loop, stream);
  std::variant<json::object, ModelFailure> outcome;
  std::exception_ptr failure;
  std::optional<UnstoredSpending> spent;
  try {
    outcome = co_await embed_with_retries(choice, std::move(body), connection.disconnected());
    if (auto* answer = std::get_if<json::object>(&outcome)) {
      ModelReply reply;
      if (const auto* usage = object_member(*answer, "usage"))
        reply.usage.input_tokens = count_member(*usage, "prompt_tokens").value_or(0);
      spent = count(request, {reply, choice.provider_name, choice.model, choice.price});
      (*answer)["model"] = request.model;
    }
  } catch (...) {
    failure = std::current_exception();
  }
  co_await connection.close();
  if (spent) co_await store_later(*std::move(spent));
  if (failure) std::rethrow_exception(failure);
  if (const auto* problem = std::get_if<ModelFailure>(&outcome)) throw client_failure(*problem, "input");
  co_return std::move(std::get<json::object>(outcome));
}

std::optional<UnstoredSpending> ClientApi::count(const ClientRequest& request, const Completion& completion) {
  if (!std::holds_alternative<ModelReply>(completion.outcome) && completion.usage() == Usage{}) return std::nullopt;
  return services_.costs.spend(request.client, completion);
}

/// Stores a cost in the background, so that neither the program nor its next request waits for the disk.
Task<> ClientApi::store_later(UnstoredSpending spent) {
  if (stores_.size() >= max_stores) co_return co_await store(std::move(spent));
  stores_.spawn(store(std::move(spent)));
}

Task<> ClientApi::stop() {
  co_await agents_.stop();
  co_await stores_.join();
}

Task<> ClientApi::store(UnstoredSpending spent) {
  try {
    co_await services_.costs.store(std::move(spent));
  } catch (const std::exception& error) {
    log::error("the cost of a program's call could not be stored: {}", error.what());
  }
}

Task<> ClientApi::fetch_pictures(ClientRequest& request, StopSource& stop) const {
  for (const auto& picture : request.pictures) {
    auto& image = request.call.messages.at(picture.message).images.at(picture.image);
    auto fetched = co_await fetch_picture(services_.http, picture, stop);
    image.mime = std::move(fetched.mime);
    image.bytes = std::move(fetched.bytes);
  }
}

}  // namespace agw
