#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/message_socket.hpp"
#include "api/request.hpp"
#include "base/async/task_group.hpp"
#include "features/client_api/response_history.hpp"
#include "features/client_api/service.hpp"

namespace agw {

/// The WebSocket at `/v1/responses` (Open Responses of 2026-04-24). Each message `response.create` is a request, whose
/// streamed response is sent as messages. Requests with the same `stream_id` are answered in order, others
/// concurrently.
class ResponseSocket {
public:
  /// How long a connection accepts requests.
  static constexpr std::chrono::minutes max_age{60};
  static constexpr std::size_t max_lanes = 16;
  static constexpr std::size_t max_waiting = 16;

  /// `request` is the one that opened the socket. All arguments must outlive this object.
  ResponseSocket(ClientApi& api, MessageSocket& socket, const Request& request);

  /// Serves the socket until it is closed or too old.
  Task<> serve();

private:
  /// The requests with one `stream_id`, or those without, in order.
  struct Lane {
    std::string id;
    struct Waiting {
      json::object body;
      std::size_t bytes = 0;
      std::shared_ptr<void> counted{};  ///< counts the request as an active answer
    };
    std::deque<Waiting> waiting{};
    bool is_working = false;
    /// The last response, if it was not stored: only requests on this connection can continue it.
    std::optional<StoredResponse> latest{};
  };

  void assert_invariants() const;
  Task<bool> serve_until_closed();
  Task<> handle(std::string message);
  void enqueue(json::object event, const std::string& stream_id, std::size_t bytes);
  Lane& lane(const std::string& stream_id);
  Task<> work(Lane& lane);
  Task<> answer(Lane& lane, json::object body);
  Task<std::optional<StoredResponse>> find_previous(std::optional<std::string> id);
  StoreResponse storing_latest(Lane& lane, json::array conversation, bool stores, bool& is_complete);
  void drop_latest(const std::string& id);
  void send_error(const std::string& stream_id, const ApiError& error);

  ClientApi& api_;
  MessageSocket& socket_;
  const Route& route_;
  const std::string client_;
  const std::optional<std::string> thread_id_;
  std::map<std::string, Lane> lanes_;
  std::size_t waiting_ = 0;
  std::size_t waiting_bytes_ = 0;
  bool is_expired_ = false;
  TaskGroup working_;
};

}  // namespace agw
