#include "features/client_api/response_socket.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "api/failure.hpp"
#include "api/route.hpp"
#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/client_api/parameters.hpp"

namespace agw {

namespace {

/// Sends the lines of a response as messages.
class SocketResponse : public ResponseStream {
public:
  explicit SocketResponse(MessageSocket& socket) : socket_(socket) {}

  Task<bool> begin(ResponseHead /*head*/) override { co_return is_open(); }
  Task<bool> send(std::string_view lines) override {
    while (!lines.empty()) {
      const auto end = std::min(lines.find('\n'), lines.size());
      socket_.send(lines.substr(0, end));
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    co_return is_open();
  }
  Task<bool> end() override { co_return is_open(); }
  Task<> wait_for_disconnect() override { co_await until_requested(stop_source()); }
  StopSource& stop_source() override { return socket_.stop_source(); }

private:
  bool is_open() { return !stop_source().requested(); }

  MessageSocket& socket_;
};

Task<> read_into(MessageSocket& socket, std::optional<std::string>& message) { message = co_await socket.read(); }

/// The parameters of a `response.create`: the members of its member `response`, if it has one, otherwise its own.
json::object body_of(json::object event) {
  if (auto* response = event.if_contains("response"); response && response->is_object())
    return std::move(response->get_object());
  for (const auto* name : {"type", "event_id", "stream_id"}) event.erase(name);
  return event;
}

ApiError connection_expired() {
  return client_error(400, "the connection is 60 minutes old: open another one to go on", {},
                      "websocket_connection_limit_reached");
}

}  // namespace

ResponseSocket::ResponseSocket(ClientApi& api, MessageSocket& socket, const Request& request)
    : api_(api),
      socket_(socket),
      route_(*request.route),
      client_(client_product(request.header("user-agent"))),
      thread_id_(request.header("x-thread-id")),
      working_(api.services().loop) {}

/// What holds while nothing is moved between the queues.
void ResponseSocket::assert_invariants() const {
  AGW_ASSERT(lanes_.size() <= max_lanes);
  AGW_ASSERT(waiting_ <= max_waiting);
  AGW_ASSERT(waiting_bytes_ <= api_.body_limit());
  AGW_ASSERT(waiting_ > 0 || waiting_bytes_ == 0);
  std::size_t queued = 0;  // at most `max_waiting`, in at most `max_lanes`
  for (const auto& [id, entry] : lanes_) {
    AGW_ASSERT(entry.id == id);
    queued += entry.waiting.size();
  }
  AGW_ASSERT(queued == waiting_);
}

Task<> ResponseSocket::serve() {
  AGW_ASSERT(lanes_.empty());
  is_expired_ = !co_await serve_until_closed();
  co_await working_.join();
  assert_invariants();
  if (is_expired_) send_error({}, connection_expired());
}

/// Returns false once the connection is too old for further requests.
Task<bool> ResponseSocket::serve_until_closed() {
  using std::chrono::milliseconds;
  const auto end = std::chrono::steady_clock::now() + max_age;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
    std::optional<std::string> message;
    const auto waited =
        co_await with_timeout(socket_.stop_source(), std::max(left, milliseconds(0)), read_into(socket_, message));
    if (waited == WaitResult::timed_out) co_return false;
    if (!message) co_return true;
    co_await handle(std::move(*message));
  }
}

Task<> ResponseSocket::handle(std::string message) {
  const auto bytes = message.size();
  std::string stream_id;
  try {
    auto event = co_await api_.parse(std::move(message));
    stream_id = string_or_empty(event, "stream_id");
    enqueue(std::move(event), stream_id, bytes);
  } catch (const ApiError& error) {
    send_error(stream_id, error);
  }
}

void ResponseSocket::enqueue(json::object event, const std::string& stream_id, std::size_t bytes) {
  if (string_or_empty(event, "type") != "response.create")
    throw bad_parameter("type", "must be response.create", "unsupported_value");
  const auto refusal = route_.refusal ? route_.refusal() : std::nullopt;
  if (refusal) throw ApiError(*refusal);
  if (waiting_ == max_waiting || waiting_bytes_ + bytes > api_.body_limit()) {
    throw client_error(429,
                       fmt::format("at most {} requests wait on a connection, of {} MiB together", max_waiting,
                                   api_.body_limit() >> 20),
                       {}, "rate_limit_exceeded");
  }
  auto& entry = lane(stream_id);
  entry.waiting.push_back({body_of(std::move(event)), bytes, api_.count_answer()});
  ++waiting_;
  waiting_bytes_ += bytes;
  if (!std::exchange(entry.is_working, true)) working_.spawn(work(entry));
  assert_invariants();
}

ResponseSocket::Lane& ResponseSocket::lane(const std::string& stream_id) {
  const auto found = lanes_.find(stream_id);
  if (found != lanes_.end()) return found->second;
  if (lanes_.size() == max_lanes) {
    throw client_error(400, fmt::format("at most {} streams are possible on a connection", max_lanes), "stream_id",
                       "websocket_stream_limit_reached");
  }
  return lanes_.emplace(stream_id, Lane{.id = stream_id}).first->second;
}

Task<> ResponseSocket::work(Lane& lane) {
  AGW_ASSERT(lane.is_working);
  while (!lane.waiting.empty() && !is_expired_ && !socket_.stop_source().requested()) {
    auto next = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    --waiting_;
    AGW_ASSERT(waiting_bytes_ >= next.bytes);
    waiting_bytes_ -= next.bytes;
    assert_invariants();
    co_await answer(lane, std::move(next.body));
  }
  lane.is_working = false;
}

Task<> ResponseSocket::answer(Lane& lane, json::object body) {
  std::optional<std::string> previous;
  bool is_complete = false;
  try {
    const bool generates = Parameters(body).flag("generate").value_or(true);
    body.erase("generate");
    auto read = read_response_request(body);
    read.request.stream = true;
    read.request.client = client_;
    previous = read.previous;
    const auto found = co_await find_previous(previous);
    check_length(api_, found);
    co_await resolve_references(api_, read.input);
    auto conversation = continue_response(read, found);
    if (thread_id_) name_thread_by_header(read.request, *thread_id_);
    const auto writer =
        response_writer(std::move(read.shown), storing_latest(lane, std::move(conversation), read.stores, is_complete),
                        read.includes_reasoning, {.as_lines = true, .stream_id = lane.id});
    SocketResponse response(socket_);
    if (generates) {
      co_await api_.answer(std::move(read.request), *writer, response);
    } else {
      co_await api_.warm_up(read.request, *writer, response);
    }
  } catch (...) {
    const auto [error, cause] = as_failure(std::current_exception());
    if (!cause.empty()) log::error("a request on a WebSocket failed: {}", cause);
    send_error(lane.id, error);
  }
  if (previous && !is_complete) drop_latest(*previous);
}

Task<std::optional<StoredResponse>> ResponseSocket::find_previous(std::optional<std::string> id) {
  if (!id) co_return std::nullopt;
  for (const auto& [name, entry] : lanes_) {
    if (entry.latest && entry.latest->id == *id) co_return entry.latest;
  }
  auto found = co_await find_response(api_, *id);
  if (!found) throw previous_response_not_found(*id);
  co_return found;
}

StoreResponse ResponseSocket::storing_latest(Lane& lane, json::array conversation, bool stores, bool& is_complete) {
  // The writer of the answer, which alone calls it, keeps the closure.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  return [this, &lane, conversation = std::move(conversation), stores, &is_complete](const ClientAnswer& answer,
                                                                                     json::object response) -> Task<> {
    AGW_ASSERT(!is_complete);
    auto row = stored_response(api_, answer, response, conversation);
    if (stores) {
      lane.latest.reset();
      co_await store_response(api_, std::move(row));
    } else {
      row.body.clear();
      lane.latest = std::move(row);
    }
    is_complete = true;
  };
}

/// Drops the response, so that the program must send the whole conversation again after a failure.
void ResponseSocket::drop_latest(const std::string& id) {
  for (auto& [name, entry] : lanes_) {
    if (entry.latest && entry.latest->id == id) entry.latest.reset();
  }
}

void ResponseSocket::send_error(const std::string& stream_id, const ApiError& error) {
  auto members = openai_error_members(error);
  // `members["code"]` could move the other members.
  if (auto& code = members.at("code"); code.is_null()) code = members.at("type");
  json::object event{{"type", "error"}, {"sequence_number", 0}, {"status", error.status()}};
  // Some programs read these members from the event, others from `error`.
  for (const auto* name : {"code", "message", "param"}) event[name] = members.at(name);
  event["error"] = std::move(members);
  if (!stream_id.empty()) event["stream_id"] = stream_id;
  socket_.send(to_json(event));
}

}  // namespace agw
