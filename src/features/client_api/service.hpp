#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "api/proxy_stream.hpp"
#include "api/request.hpp"
#include "features/client_api/answer_writer.hpp"
#include "features/client_api/types.hpp"
#include "features/costs/service.hpp"
#include "features/extensions/service.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "models/catalog.hpp"
#include "models/retry.hpp"

namespace agw {

/// What the answers to programs are made with. All of it outlives ClientApi.
struct ClientServices {
  Loop& loop;
  BlockingPool& blocking;
  Database& database;
  const Clock& clock;
  HttpClient& http;
  const Models& models;
  Extensions& extensions;
  Costs& costs;
};

/// Answers programs that speak the API of a model service, whichever: their readers make a ClientRequest, and their
/// writers turn the answer into bytes. A model is passed through to its service; no thread is made.
class ClientApi {
public:
  /// `body_limit`: of a request's body in bytes.
  ClientApi(const ClientServices& services, std::size_t body_limit);

  /// Reads and parses the body. Throws ApiError: 413, or 400 if it is no JSON object.
  Task<json::object> read_body(ProxyStream& stream) const;

  /// Answers the request, streamed if it asks for that. Throws ApiError before the response has begun; later failures
  /// are written as the protocol has them. A program that disconnects stops the model.
  Task<> answer(ClientRequest request, AnswerWriter& writer, ProxyStream& stream);

  /// Sends a whole response.
  static Task<> respond(ProxyStream& stream, std::string body);

private:
  Task<> fetch_pictures(ClientRequest& request, StopSource& stop) const;
  ModelChoice require_model(const ClientRequest& request, const AnswerWriter& writer) const;
  Task<> pass_through(ClientRequest request, ModelChoice choice, AnswerWriter& writer, ProxyStream& stream);
  Task<> count(const ClientRequest& request, const Completion& completion);

  const ClientServices services_;
  const std::size_t body_limit_;
};

}  // namespace agw
