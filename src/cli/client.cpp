#include "cli/client.hpp"

#include <fmt/format.h>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/pct_string_view.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include "api/refusals.hpp"
#include "base/cut.hpp"
#include "base/data_files.hpp"
#include "base/group.hpp"
#include "base/json_reading.hpp"
#include "cli/connection.hpp"
#include "cli/printable.hpp"
#include "cli/problem_text.hpp"

namespace agw::cli {

namespace {

namespace http = boost::beast::http;
using namespace std::chrono_literals;

constexpr auto patience = 60s;
constexpr auto until_sign_of_life = 10s;
constexpr auto for_sign_of_life = 3s;

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

Request make_request(const FoundGateway& gateway, const std::string& method, const std::string& path,
                     std::string body) {
  Request request(http::string_to_verb(method), path, 11, std::move(body));
  request.set(http::field::host, host_and_port(gateway));
  request.set(http::field::connection, "close");
  if (gateway.token) request.set(http::field::authorization, "Bearer " + *gateway.token);
  if (!request.body().empty()) request.set(http::field::content_type, "application/json");
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

Task<> read(GatewayStream& stream, Response& response) {
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(boost::none);
  co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
  response = parser.release();
}

Task<> ask_for_health(const FoundGateway& gateway) {
  auto stream = co_await connect(gateway);
  co_await write(stream, make_request(gateway, "GET", "/health", {}));
  co_await first_bytes(stream);
}

/// Waits until an answer begins. A gateway that is suspended still takes connections: one that says nothing for long is
/// asked whether it lives.
Task<End> begins_to_answer(const FoundGateway& gateway, GatewayStream& stream) {
  Stop never;
  const auto end = co_await cut(never, until_sign_of_life, first_bytes(stream));
  if (end != End::timed_out) co_return end;
  co_return co_await cut(never, for_sign_of_life, ask_for_health(gateway));
}

Task<End> send_and_read(const FoundGateway& gateway, const Request& request, Response& response) {
  Stop never;
  std::optional<GatewayStream> stream;
  auto end = co_await cut(never, until_sign_of_life, open(gateway, stream));
  if (end == End::done) end = co_await cut(never, patience, write(*stream, request));
  if (end == End::done) end = co_await begins_to_answer(gateway, *stream);
  if (end == End::timed_out) {
    throw std::runtime_error(
        fmt::format("the gateway (process {}) does not answer: it is suspended (`kill -CONT {}` has it go on) or hangs",
                    gateway.pid, gateway.pid));
  }
  if (end != End::done) co_return end;
  co_return co_await cut(never, patience, read(*stream, response));
}

std::string encoded(const std::string& text) {
  // All that is not unreserved: the gateway reads a bare `+` as a space.
  return boost::urls::encode(text, boost::urls::unreserved_chars);
}

json::value parse_answer(const std::string& path, const std::string& body) {
  auto value = parse_json(body, {.deepest = deepest_own_json});
  if (!value) throw std::runtime_error(fmt::format("the gateway's answer to {} is not JSON", path));
  return *std::move(value);
}

json::object parse_object(const std::string& path, const std::string& body) {
  auto value = parse_answer(path, body);
  if (!value.is_object()) throw std::runtime_error(fmt::format("the gateway's answer to {} is no object", path));
  return std::move(value.get_object());
}

/// The record that a request is about: the thread that its body names, else the second part of its path.
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
  bool is_named = true;  ///< the problem is followed by the record's name, where a request has that in one piece
};

/// What a person can ask for the names that there are, or nothing.
std::optional<Listing> where_they_are_listed(std::string_view problem) {
  if (problem == thread_not_found().error()) return Listing{"agw threads"};
  if (problem == job_not_found().error()) return Listing{"agw jobs"};
  if (problem == agent_not_found().error()) return Listing{"agw ext list --type agent"};
  if (problem == extension_not_found().error()) return Listing{"agw ext list"};
  if (problem == proposal_not_found().error()) return Listing{"agw proposals", false};
  return std::nullopt;
}

/// The `error` of an answer, or what else says something about it.
std::string reason(const std::string& request, const std::string& sent, int status, const std::string& body) {
  const auto value = parse_json(body, {.deepest = deepest_own_json});
  const auto text = value && value->is_object() ? string_member(value->get_object(), "error") : std::nullopt;
  if (!text) return fmt::format("status {}", status);
  auto problem = problem_text(*text, value->get_object());
  const auto list = where_they_are_listed(*text);
  if (!list) return problem;
  const auto record = list->is_named && problem == *text ? record_in(request, sent) : std::string();
  if (!record.empty()) problem += ": " + one_line(record);
  return fmt::format("{}: `{}` lists those there are", problem, list->command);
}

Task<> keep(Task<int> task, int& answer) { answer = co_await std::move(task); }

std::string refused_token(const FoundGateway& gateway) {
  const auto file = (gateway.data_directory / data_files::token).string();
  if (gateway.token) return fmt::format("the token of {} is refused: {}: restart it", file, why_not_let_in(gateway));
  return fmt::format("nobody is let in without a token, and there is no {}: {}: restart it with a token", file,
                     why_not_let_in(gateway));
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

Task<Client::Reply> Client::exchange(std::string method, std::string path, std::string body) const {
  auto request = make_request(gateway_, method, path, std::move(body));
  Response response;
  std::string why = fmt::format("nothing came within {} s", patience.count());
  try {
    const auto end = co_await send_and_read(gateway_, request, response);
    if (end == End::done) co_return Reply{static_cast<int>(response.result_int()), std::move(response.body())};
    if (end == End::stopped) why = "it was not waited for";
  } catch (const boost::system::system_error& error) {
    why = error.code().message();
  }
  throw std::runtime_error(fmt::format("the gateway at {} did not answer {} {}: {}", gateway_.url, method, path, why));
}

Task<std::string> Client::ask(std::string method, std::string path, std::string body) const {
  auto reply = co_await exchange(method, path, body);
  if (reply.status < 200 || reply.status > 299) refuse(method + ' ' + path, body, reply);
  co_return std::move(reply.body);
}

void Client::refuse(const std::string& request, const std::string& sent, const Reply& reply) const {
  if (reply.status == 401) throw Refused(401, refused_token(gateway_));
  throw Refused(reply.status, fmt::format("{} (the gateway's answer to {})",
                                          reason(request, sent, reply.status, reply.body), one_line(request)));
}

Task<bool> Client::is_let_in() const {
  const auto reply = co_await exchange("GET", "/threads?limit=1", {});
  co_return reply.status != 401;
}

Task<std::string> Client::get_text(std::string path) const { co_return co_await ask("GET", path); }

Task<json::value> Client::get(std::string path) const {
  const auto body = co_await ask("GET", path);
  co_return parse_answer(path, body);
}

Task<json::object> Client::post(std::string path, json::object body) const {
  const auto answer = co_await ask("POST", path, to_json(body));
  co_return parse_object(path, answer);
}

Task<json::object> Client::patch(std::string path, json::object body) const {
  const auto answer = co_await ask("PATCH", path, to_json(body));
  co_return parse_object(path, answer);
}

Task<> Client::remove(std::string path) const { co_await ask("DELETE", path); }

std::string why_not_let_in(const FoundGateway& gateway) {
  return fmt::format("the gateway was started without a token (--no-token or auth: none), or the file was {} since",
                     gateway.token ? "made or replaced" : "removed");
}

int run(Loop& loop, Task<int> task) {
  int answer = 0;
  std::exception_ptr failure;
  Group group(loop);
  group.on_failure([&](std::exception_ptr error) { failure = error; });
  group.spawn(keep(std::move(task), answer));
  loop.run();
  if (failure) std::rethrow_exception(failure);
  return answer;
}

}  // namespace agw::cli
