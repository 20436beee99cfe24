#pragma once

#include <string>
#include <string_view>

#include "api/error.hpp"

namespace agw {

/// The protocols that requests come in. Errors have the protocol's own shape.
enum class Protocol { gateway, openai, anthropic };

/// The protocol of a request by its path and whether it has the header `anthropic-version`. Paths that neither protocol
/// has here are the gateway's own.
Protocol protocol_of(std::string_view path, bool has_anthropic_version);

/// An error of a program's request. `param` names the parameter that is wrong; `code` is for programs. Both may be
/// empty. Only OpenAI's shape shows them.
ApiError client_error(int status, std::string message, std::string param = {}, std::string code = {});
/// 400 for a parameter, whose name begins the message.
ApiError bad_parameter(const std::string& param, std::string_view problem, std::string code = {});

/// `{"message", "type", "param", "code"}`
json::object openai_error_members(const ApiError& error);
/// `{"error": {"message", "type", "param", "code"}}`
std::string openai_error(const ApiError& error);
/// The status of an error in Anthropic's API, where an overloaded service is 529 and not 503.
int anthropic_status(int status);
/// `{"type": "error", "error": {"type", "message"}, "request_id": null}`
std::string anthropic_error(const ApiError& error);

}  // namespace agw
