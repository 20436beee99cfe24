#include "server/http/response.hpp"

#include <ctime>

#include <algorithm>
#include <array>
#include <charconv>

#include <boost/algorithm/string/predicate.hpp>
#include <boost/beast/http/status.hpp>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

/// The Date header (RFC 9110, 6.6.1), formatted once a second.
std::string_view date_field() {
  static std::time_t made_at = 0;
  static std::array<char, 48> text;
  static std::size_t length = 0;
  const auto now = std::time(nullptr);
  if (now != made_at) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    length = std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    made_at = now;
  }
  return {text.data(), length};
}

void write_number(std::string& out, std::size_t number) {
  std::array<char, 20> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), result.ptr);
}

void write_length(std::string& out, std::size_t length) {
  out += "Content-Length: ";
  write_number(out, length);
  out += "\r\n";
}

void write_status_line(std::string& out, int status) {
  if (status == 200) {
    out += "HTTP/1.1 200 OK\r\n";
    return;
  }
  out += "HTTP/1.1 ";
  write_number(out, static_cast<std::size_t>(status));
  out += ' ';
  out += reason_phrase(status);
  out += "\r\n";
}

void write_field(std::string& out, const Fields::value_type& field) {
  const auto& [name, value] = field;
  AGW_DEBUG_ASSERT(value.find_first_of("\r\n") == value.npos);  // it would end the field, or the head
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

bool has_field(const Fields& fields, std::string_view wanted) {
  return std::ranges::any_of(fields, [&](const auto& field) { return boost::iequals(field.first, wanted); });
}

/// Writes the headers common to all responses, those of the handler, and those of the route that the handler left out.
void write_all_fields(std::string& out, const Fields& fields, const ResponseOptions& options) {
  if (!has_field(fields, "Cache-Control")) out += "Cache-Control: no-store\r\n";
  out += "X-Content-Type-Options: nosniff\r\n";
  for (const auto& field : fields) write_field(out, field);
  if (options.fields) {
    for (const auto& field : *options.fields) {
      if (!has_field(fields, field.first)) write_field(out, field);
    }
  }
  if (!options.cors_origin.empty()) {
    out += "Access-Control-Allow-Origin: ";
    out += options.cors_origin;
    out += "\r\nAccess-Control-Expose-Headers: Mcp-Session-Id, Retry-After, X-Run-Id, X-Thread-Id\r\nVary: Origin\r\n";
  }
}

}  // namespace

bool has_content(const Response& response) { return response.status != 204 && response.status != 304; }

void write_response(std::string& out, const Response& response, const ResponseOptions& options) {
  write_status_line(out, response.status);
  out += date_field();
  if (!response.content_type.empty()) {
    out += "Content-Type: ";
    out += response.content_type;
    out += "\r\n";
  }
  write_all_fields(out, response.headers, options);
  if (options.close || response.close) out += "Connection: close\r\n";
  if (has_content(response)) write_length(out, response.body.size());
  out += "\r\n";
  if (!options.without_body && has_content(response)) out += response.body;
}

void write_head(std::string& out, const ResponseHead& head, Framing framing, const ResponseOptions& options) {
  AGW_ASSERT(head.length || framing != Framing::length);
  AGW_ASSERT(options.close || framing != Framing::until_close);
  AGW_ASSERT(head.status != 101 || framing == Framing::none);
  write_status_line(out, head.status);
  out += date_field();
  write_all_fields(out, head.fields, options);
  if (options.close && framing != Framing::none) out += "Connection: close\r\n";
  if (head.status != 204 && framing == Framing::length) write_length(out, *head.length);
  if (head.status != 204 && framing == Framing::chunked) out += "Transfer-Encoding: chunked\r\n";
  out += "\r\n";
}

Response error_response(const ApiError& error) {
  Response response{.status = error.status(), .body = "{\"error\":"};
  write_json(response.body, std::string_view(error.error()));
  for (const auto& member : error.extra()) {
    response.body += ',';
    write_json(response.body, std::string_view(member.key()));
    response.body += ':';
    write_json(response.body, member.value());
  }
  response.body += '}';
  // RFC 9110, section 15.5.2: every 401 names what it takes.
  if (error.status() == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"agent-gateway\"");
  return response;
}

Response error_response(int status, std::string_view error) {
  return error_response(ApiError(status, std::string(error)));
}

Response error_response(const ApiError& error, Protocol protocol) {
  Response response;
  if (protocol == Protocol::gateway)
    response = error_response(error);
  else if (protocol == Protocol::anthropic)
    response = {.status = anthropic_status(error.status()), .body = anthropic_error(error)};
  else
    response = {.status = error.status(), .body = openai_error(error)};
  if (const auto delay = error.retry_after())
    response.headers.emplace_back("Retry-After", std::to_string(delay->count()));
  return response;
}

Response in_protocol(Response response, Protocol protocol) {
  const auto body = parse_json(response.body);
  const auto* members = body ? body->if_object() : nullptr;
  if (!members) return response;
  auto extra = *members;
  extra.erase("error");
  auto written =
      error_response(ApiError(response.status, string_or_empty(*members, "error"), std::move(extra)), protocol);
  response.status = written.status;
  response.body = std::move(written.body);
  return response;
}

std::string_view reason_phrase(int status) {
  return boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
}

}  // namespace agw
