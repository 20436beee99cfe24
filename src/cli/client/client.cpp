// One request on one connection: connect, write, wait for the first bytes, read. A suspended gateway still accepts
// connections, so after a long silence the client probes it with a health check instead of waiting forever.
//
// The rest converts error responses to messages for people: the problem, the record concerned, and the command that
// lists the existing names.

#include "cli/client/client.hpp"

#include <fmt/format.h>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/pct_string_view.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include "api/refusals.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "base/data_files.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/gateway_stream.hpp"
#include "cli/output/json_output.hpp"

namespace agw::cli {

namespace {

namespace http = boost::beast::http;
using namespace std::chrono_literals;

constexpr auto response_limit = 60s;
constexpr auto until_sign_of_life = 10s;
constexpr auto for_sign_of_life = 3s;

using Request = http::request<http::string_body>;
using BeastResponse = http::response<http::string_body>;

Request make_request(const FoundGateway& gateway, const std::string& method, const std::string& path, std::string body,
                     const std::string& type) {
  Request request(http::string_to_verb(method), path, 11, std::move(body));
  request.set(http::field::host, host_and_port(gateway));
  request.set(http::field::connection, "close");
  if (gateway.token) request.set(http::field::authorization, "Bearer " + *gateway.token);
  if (!request.body().empty()) request.set(http::field::content_type, type);
  request.prepare_payload();
  return request;
}

Task<> open(const FoundGateway& gateway, std::optional<GatewayStream>& stream) {
  stream.emplace(co_await connect(gateway));
}

Task<> write(GatewayStream& stream, const Request& request) {
  co_await http::async_write(stream, request, asio::use_awaitable);
}

Task<> first_bytes(GatewayStream& stream) {
  co_await stream.socket().async_wait(GatewayStream::Socket::wait_read, asio::use_awaitable);
}

Task<> read(GatewayStream& stream, BeastResponse& response) {
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
  response = parser.release();
}

Task<> ask_for_health(const FoundGateway& gateway) {
  auto stream = co_await connect(gateway);
  co_await write(stream, make_request(gateway, "GET", "/health", {}, {}));
  co_await first_bytes(stream);
}

/// Waits until a response begins. A suspended gateway still accepts connections, so after a long silence it is probed
/// with a health check.
Task<WaitResult> begins_to_answer(const FoundGateway& gateway, GatewayStream& stream) {
  StopSource never;
  const auto end = co_await with_timeout(never, until_sign_of_life, first_bytes(stream));
  if (end != WaitResult::timed_out) co_return end;
  co_return co_await with_timeout(never, for_sign_of_life, ask_for_health(gateway));
}

Task<WaitResult> send_and_read(const FoundGateway& gateway, const Request& request, BeastResponse& response) {
  StopSource never;
  std::optional<GatewayStream> stream;
  auto end = co_await with_timeout(never, until_sign_of_life, open(gateway, stream));
  if (end == WaitResult::done) end = co_await with_timeout(never, response_limit, write(*stream, request));
  if (end == WaitResult::done) end = co_await begins_to_answer(gateway, *stream);
  if (end == WaitResult::timed_out) {
    throw std::runtime_error(fmt::format(
        "the gateway (process {}) does not answer: it is suspended (resume it with `kill -CONT {}`) or hangs",
        gateway.pid, gateway.pid));
  }
  if (end != WaitResult::done) co_return end;
  co_return co_await with_timeout(never, response_limit, read(*stream, response));
}

std::string encoded(const std::string& text) {
  // Encodes everything except unreserved characters: the gateway reads a bare `+` as a space.
  return boost::urls::encode(text, boost::urls::unreserved_chars);
}

json::value parse_response(const std::string& path, const std::string& body) {
  auto value = parse_json(body, {.max_depth = max_own_json_depth});
  if (!value) throw std::runtime_error(fmt::format("the gateway's response to {} is not JSON", path));
  return *std::move(value);
}

json::object parse_object(const std::string& path, const std::string& body) {
  auto value = parse_response(path, body);
  if (!value.is_object()) throw std::runtime_error(fmt::format("the gateway's response to {} is not an object", path));
  return std::move(value.get_object());
}

/// The record that a request concerns: the thread in its body, otherwise the second segment of its path.
std::string record_in(const std::string& request, const std::string& sent) {
  const auto value = parse_json(sent);
  const auto thread = value && value->is_object() ? string_member(value->get_object(), "threadId") : std::nullopt;
  if (thread) return std::string(*thread);
  auto path = std::string_view(request).substr(request.find('/') + 1);
  path = path.substr(0, path.find('?'));
  const auto slash = path.find('/');
  if (slash == path.npos) return {};
  const auto part = path.substr(slash + 1, path.find('/', slash + 1) - slash - 1);
  const auto encoded_part = boost::urls::make_pct_string_view(part);
  return encoded_part ? encoded_part->decode() : std::string(part);
}

struct Listing {
  std::string_view command;
  bool is_named = true;  ///< the error text is followed by the record's name, if that is one segment of the request
};

/// The command that lists the existing names, or nullopt.
std::optional<Listing> where_they_are_listed(std::string_view problem) {
  if (problem == thread_not_found().error()) return Listing{"agw threads"};
  if (problem == job_not_found().error()) return Listing{"agw jobs"};
  if (problem == agent_not_found().error()) return Listing{"agw ext list --type agent"};
  if (problem == extension_not_found().error()) return Listing{"agw ext list"};
  if (problem == proposal_not_found().error()) return Listing{"agw proposals", false};
  return std::nullopt;
}

/// The `error` of a response, or another text that describes it.
std::string reason(const std::string& request, const std::string& sent, int status, const std::string& body) {
  const auto value = parse_json(body, {.max_depth = max_own_json_depth});
  const auto text = value && value->is_object() ? string_member(value->get_object(), "error") : std::nullopt;
  if (!text) return fmt::format("status {}", status);
  auto problem = problem_text(*text, value->get_object());
  const auto list = where_they_are_listed(*text);
  if (!list) return problem;
  const auto record = list->is_named && problem == *text ? record_in(request, sent) : std::string();
  if (!record.empty()) problem += ": " + one_line(record);
  return fmt::format("{}: `{}` lists those there are", problem, list->command);
}

Task<> store_result(Task<int> task, int& response) { response = co_await std::move(task); }

std::string refused_token(const FoundGateway& gateway) {
  const auto file = (gateway.data_directory / data_files::token).string();
  if (gateway.token)
    return fmt::format("the token of {} is refused: {}: restart it", file, authorization_problem(gateway));
  return fmt::format("the gateway requires a token, and there is no {}: {}: restart it with a token", file,
                     authorization_problem(gateway));
}

}  // namespace

std::string path(const std::vector<std::string>& segments, const Parameters& parameters) {
  std::string text;
  for (const auto& segment : segments) text += '/' + encoded(segment);
  char before = '?';
  for (const auto& [name, value] : parameters) {
    if (!value) continue;
    text += before + encoded(name) + '=' + encoded(*value);
    before = '&';
  }
  return text;
}

Task<Client::Reply> Client::exchange(std::string method, std::string path, std::string body, std::string type) const {
  auto request = make_request(gateway_, method, path, std::move(body), type);
  BeastResponse response;
  std::string why = fmt::format("no response within {} s", response_limit.count());
  try {
    const auto end = co_await send_and_read(gateway_, request, response);
    if (end == WaitResult::done) {
      co_return Reply{static_cast<int>(response.result_int()), std::move(response.body()), response["X-Run-Id"]};
    }
    if (end == WaitResult::stopped) why = "the wait was cancelled";
  } catch (const boost::system::system_error& error) {
    why = error.code().message();
  }
  throw std::runtime_error(
      fmt::format("the gateway at {} did not respond to {} {}: {}", gateway_.url, method, path, why));
}

Task<Client::Reply> Client::accepted(std::string method, std::string path, std::string body) const {
  auto reply = co_await exchange(method, path, body);
  if (reply.status < 200 || reply.status > 299) refuse(method + ' ' + path, body, reply);
  co_return reply;
}

Task<std::string> Client::ask(std::string method, std::string path, std::string body) const {
  auto reply = co_await accepted(std::move(method), std::move(path), std::move(body));
  co_return std::move(reply.body);
}

void Client::refuse(const std::string& request, const std::string& sent, const Reply& reply) const {
  if (reply.status == 401) throw ResponseError(401, refused_token(gateway_));
  throw ResponseError(reply.status, fmt::format("{} (the gateway's response to {})",
                                                reason(request, sent, reply.status, reply.body), one_line(request)));
}

Task<bool> Client::is_authorized() const {
  const auto reply = co_await exchange("GET", "/threads?limit=1", {});
  co_return reply.status != 401;
}

Task<std::string> Client::get_text(std::string path) const { co_return co_await ask("GET", path); }

Task<json::value> Client::get(std::string path) const {
  const auto body = co_await ask("GET", path);
  co_return parse_response(path, body);
}

Task<json::object> Client::post(std::string path, json::object body) const {
  const auto response = co_await ask("POST", path, to_json(body));
  co_return parse_object(path, response);
}

Task<Client::StartedRun> Client::start_run(std::string path) const {
  auto reply = co_await accepted("POST", path, "{}");
  co_return StartedRun{std::move(reply.run_id), parse_object(path, reply.body)};
}

Task<json::object> Client::patch(std::string path, json::object body) const {
  const auto response = co_await ask("PATCH", path, to_json(body));
  co_return parse_object(path, response);
}

Task<> Client::remove(std::string path) const { co_await ask("DELETE", path); }

Task<json::object> Client::upload(std::string path, std::string type, std::string bytes) const {
  const auto reply = co_await exchange("POST", path, std::move(bytes), std::move(type));
  if (reply.status < 200 || reply.status > 299) refuse("POST " + path, {}, reply);
  co_return parse_object(path, reply.body);
}

std::string authorization_problem(const FoundGateway& gateway) {
  return fmt::format("the gateway was started without a token (--no-token or auth: none), or the file was {} later",
                     gateway.token ? "made or replaced" : "removed");
}

int run(Loop& loop, Task<int> task) {
  int response = 0;
  std::exception_ptr failure;
  TaskGroup group(loop);
  group.on_failure([&](std::exception_ptr error) { failure = error; });
  group.spawn(store_result(std::move(task), response));
  loop.run();
  if (failure) std::rethrow_exception(failure);
  return response;
}

}  // namespace agw::cli
