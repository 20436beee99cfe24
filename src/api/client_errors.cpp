#include "api/client_errors.hpp"

#include <fmt/format.h>

#include "base/json/json_values.hpp"

namespace agw {

namespace {

std::string_view openai_type(int status) {
  if (status == 429) return "rate_limit_error";
  if (status == 403) return "permission_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

std::string_view openai_code(int status) { return status == 401 ? "invalid_api_key" : std::string_view(); }

std::string_view anthropic_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 504:
      return "timeout_error";
    case 503:
    case 529:
      return "overloaded_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

json::value text_or_null(std::string_view text) { return text.empty() ? json::value() : json::value(text); }

}  // namespace

Protocol protocol_of(std::string_view path, bool has_anthropic_version) {
  const auto is_at = [&](std::string_view place) {
    return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
  };
  if (is_at("/v1/messages")) return Protocol::anthropic;
  if (is_at("/v1/models")) return has_anthropic_version ? Protocol::anthropic : Protocol::openai;
  const bool is_openai = is_at("/v1/chat") || is_at("/v1/responses") || is_at("/v1/embeddings");
  return is_openai ? Protocol::openai : Protocol::gateway;
}

ApiError client_error(int status, std::string message, std::string param, std::string code) {
  json::object extra;
  if (!param.empty()) extra["param"] = param;
  if (!code.empty()) extra["code"] = code;
  return {status, std::move(message), std::move(extra)};
}

ApiError bad_parameter(const std::string& param, std::string_view problem, std::string code) {
  return client_error(400, fmt::format("{}: {}", param, problem), param, std::move(code));
}

json::object openai_error_members(const ApiError& error) {
  auto code = string_or_empty(error.extra(), "code");
  if (code.empty()) code = openai_code(error.status());
  return {{"message", text_with_details(error)},
          {"type", openai_type(error.status())},
          {"param", text_or_null(string_or_empty(error.extra(), "param"))},
          {"code", text_or_null(code)}};
}

std::string openai_error(const ApiError& error) {
  return to_json(json::object{{"error", openai_error_members(error)}});
}

int anthropic_status(int status) { return status == 503 ? 529 : status; }

std::string anthropic_error(const ApiError& error) {
  const auto code = string_or_empty(error.extra(), "code");
  auto message = text_with_details(error);
  // By these words, Claude Code knows that it must shorten the conversation.
  constexpr std::string_view too_long = "prompt is too long";
  if (code == "context_length_exceeded" && message.find(too_long) == message.npos)
    message = fmt::format("{}: {}", too_long, message);
  json::object shown{{"type", anthropic_type(error.status())}, {"message", std::move(message)}};
  // By this code, Anthropic's library knows that it must send the whole conversation again.
  if (code == "thread_not_found") shown["details"] = json::object{{"error_code", code}};
  return to_json(json::object{{"type", "error"}, {"error", std::move(shown)}, {"request_id", nullptr}});
}

}  // namespace agw
