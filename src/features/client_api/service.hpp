#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/proxy_stream.hpp"
#include "api/request.hpp"
#include "api/route.hpp"
#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/client_api/agent_answers.hpp"
#include "features/client_api/answer_writer.hpp"
#include "features/client_api/model_list.hpp"
#include "features/client_api/types.hpp"
#include "features/costs/service.hpp"
#include "features/extensions/service.hpp"
#include "features/model_services/service.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "models/catalog.hpp"
#include "models/retry.hpp"

namespace agw {

/// The services that ClientApi uses. All must outlive it.
struct ClientServices {
  Loop& loop;
  BlockingPool& blocking;
  Database& database;
  const Clock& clock;
  HttpClient& http;
  const Models& models;
  ModelServices& model_services;
  Extensions& extensions;
  Costs& costs;
  Threads& threads;
  Runs& runs;
  Attachments& attachments;
  Engine& engine;
};

/// Answers programs that use the API of a model service. Each protocol has a reader, which makes a ClientRequest, and a
/// writer, which turns the answer into bytes. Requests to a model are sent to its service, without a thread. Agents
/// answer in a thread, as they answer people.
class ClientApi {
public:
  /// `body_limit`: maximum size of a request's body in bytes.
  ClientApi(const ClientServices& services, std::size_t body_limit);

  /// Reads and parses the body. Throws ApiError: 413, or 400 if it is not a JSON object.
  Task<std::shared_ptr<json::object>> read_body(ProxyStream& stream) const;
  /// Parses a body. Throws ApiError 400 if it is not a JSON object.
  Task<json::object> parse(std::string content) const;

  /// Answers the request, as a stream if requested. Throws ApiError before the response has begun; later failures are
  /// written in the protocol's format. If the program disconnects, the call of a model is cancelled, but an agent
  /// continues.
  Task<> answer(ClientRequest request, AnswerWriter& writer, ResponseStream& stream);

  /// Writes the stream of an empty answer, without calling a model. Throws ApiError 404 for an unknown model.
  Task<> warm_up(const ClientRequest& request, AnswerWriter& writer, ResponseStream& stream) const;

  /// Has a model make embeddings. `body` and the result have the format of OpenAI's API. Throws ApiError.
  Task<json::object> embed(json::object body, const std::string& client, ResponseStream& stream);

  /// Throws ApiError 404 if neither an agent nor a model has this name.
  void require(const std::string& name) const;

  /// Sends a complete response.
  static Task<> respond(ResponseStream& stream, std::string body, Fields fields = {});

  /// Counts an active or queued answer, for as long as the result exists.
  std::shared_ptr<void> count_answer();
  /// Waits until no answer is counted and no run is active.
  Task<> wait_until_idle();

  /// Call it after the engine has stopped.
  Task<> stop();

  const ClientServices& services() const { return services_; }
  /// The possible values of `model`.
  ClientModelList& models() { return models_; }
  /// Maximum size of a request's body, in bytes.
  std::size_t body_limit() const { return body_limit_; }

private:
  Task<> fetch_pictures(ClientRequest& request, StopSource& stop) const;
  ModelChoice find_model(const std::string& name) const;
  void require_budget() const;
  ModelChoice require_model(const ClientRequest& request, const AnswerWriter& writer) const;
  std::vector<ModelChoice> with_fallbacks(ModelChoice choice, const ModelRequest& call) const;
  Task<> pass_through(ClientRequest request, ModelChoice choice, AnswerWriter& writer, ResponseStream& stream);
  ClientAnswer new_answer(const ClientRequest& request) const;
  Task<> answer_by_agent(ClientRequest request, ExtensionPointer agent, AnswerWriter& writer, ResponseStream& stream);
  /// Counts the cost of a call, if any. Pass the result to `store_later` once the program has its response.
  std::optional<UnstoredSpending> count(const ClientRequest& request, const Completion& completion);
  Task<> store_later(UnstoredSpending spent);
  Task<> store(UnstoredSpending spent);

  const ClientServices services_;
  const std::size_t body_limit_;
  ClientModelList models_;
  AgentAnswers agents_;
  std::size_t answers_ = 0;  ///< see `count_answer`
  AsyncEvent all_ended_;     ///< pulsed when `answers_` becomes 0
  TaskGroup stores_;         ///< writes of costs
};

/// All routes of `/v1`, which include those below.
Routes client_api_routes(ClientApi& api);
Routes openai_routes(ClientApi& api);
/// OpenAI's Responses.
Routes response_routes(ClientApi& api);
Routes anthropic_routes(ClientApi& api);

}  // namespace agw
