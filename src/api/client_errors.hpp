#pragma once

#include <string>
#include <string_view>

#include "api/error.hpp"

namespace agw {

/// The protocols of requests. Errors have the format of the protocol.
enum class Protocol { gateway, openai, anthropic };

/// The protocol of a request, by its path and the presence of the header `anthropic-version`. All paths that are not in
/// one of the other protocols belong to the gateway's own.
Protocol protocol_of(std::string_view path, bool has_anthropic_version);

/// An error in a program's request. `param` names the wrong parameter; `code` is for programs. Both may be empty and
/// appear only in OpenAI's format.
ApiError client_error(int status, std::string message, std::string param = {}, std::string code = {});
/// 400 for a parameter; the message begins with its name.
ApiError bad_parameter(const std::string& param, std::string_view problem, std::string code = {});

/// `{"message", "type", "param", "code"}`
json::object openai_error_members(const ApiError& error);
/// `{"error": {"message", "type", "param", "code"}}`
std::string openai_error(const ApiError& error);
/// The status for an error in Anthropic's API, which uses 529 instead of 503 for an overloaded service.
int anthropic_status(int status);
/// `{"type": "error", "error": {"type", "message"}, "request_id": null}`
std::string anthropic_error(const ApiError& error);

}  // namespace agw
