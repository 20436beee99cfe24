#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "api/request.hpp"
#include "base/containers.hpp"
#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "features/integrations/protocol.hpp"
#include "server/mcp/message.hpp"

namespace agw {

namespace {

constexpr int refused_status = 400;
constexpr std::string_view version_header = "mcp-protocol-version";

/// A method whose target is repeated in `Mcp-Name`, and the parameter with the target.
struct NamedMethod {
  std::string_view method;
  std::string_view parameter;
};
constexpr std::array<NamedMethod, 3> named_methods{
    {{"tools/call", "name"}, {"resources/read", "uri"}, {"prompts/get", "name"}}};

McpError mismatch(const std::string& why) {
  return {rpc_code::header_mismatch, "Header mismatch: " + why, {}, refused_status};
}

McpError invalid_params(const std::string& why) { return {rpc_code::invalid_params, why, {}, refused_status}; }

McpError unsupported_version(std::string_view requested, json::array supported) {
  return {rpc_code::unsupported_version,
          "Unsupported protocol version",
          {{"supported", std::move(supported)}, {"requested", requested}},
          refused_status};
}

/// Decodes `=?base64?…?=`; returns nullopt if the content is not base64.
std::optional<std::string> decoded_header(std::string_view value) {
  constexpr std::string_view before = "=?base64?", after = "?=";
  if (!value.starts_with(before) || !value.ends_with(after) || value.size() < before.size() + after.size())
    return std::string(value);
  std::string text(value.substr(before.size(), value.size() - before.size() - after.size()));
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return from_base64url(text);
}

/// Checks the answers of a client to `input_required`, which are untrusted like every parameter.
void check_answers(const json::object& params) {
  const auto* state = params.if_contains("requestState");
  if (state && !state->is_string()) throw invalid_params("requestState must be a string");
  const auto* answers = params.if_contains("inputResponses");
  if (!answers) return;
  const auto* object = answers->if_object();
  const bool are_objects =
      object && std::ranges::all_of(*object, [](const auto& answer) { return answer.value().is_object(); });
  if (!are_objects) throw invalid_params("inputResponses must be an object of objects");
}

void check_header(const Request& request, std::string_view name, std::string_view shown, const std::string& wanted) {
  const auto value = request.header(name);
  if (!value) throw mismatch(fmt::format("{} is missing", shown));
  if (decoded_header(*value) != wanted)
    throw mismatch(fmt::format("{} header value '{}' does not match body value '{}'", shown, *value, wanted));
}

}  // namespace

bool is_modern_message(const Request& request, const McpMessage& message) {
  if (object_or_empty(message.params, "_meta").contains(mcp_version_key)) return true;
  const auto version = request.header(version_header);
  return version && !contains(mcp_legacy_versions, *version);
}

void check_modern_request(const Request& request, const McpMessage& message) {
  const auto* meta = object_member(message.params, "_meta");
  const auto announced = request.header(version_header);
  // If only the header names a revision, the client may support any of ours, so the error lists all of them.
  if (announced && *announced != mcp_modern_version && !(meta && meta->contains(mcp_version_key))) {
    json::array supported{mcp_modern_version};
    supported.insert(supported.end(), mcp_legacy_versions.begin(), mcp_legacy_versions.end());
    throw unsupported_version(*announced, std::move(supported));
  }
  if (!meta) throw invalid_params("params._meta is required");
  const auto version = string_member(*meta, mcp_version_key);
  if (!version) throw invalid_params(fmt::format("_meta.{} is required", mcp_version_key));
  check_header(request, version_header, "MCP-Protocol-Version", std::string(*version));
  if (*version != mcp_modern_version) throw unsupported_version(*version, {mcp_modern_version});
  if (!object_member(*meta, mcp_client_capabilities_key))
    throw invalid_params(fmt::format("_meta.{} is required", mcp_client_capabilities_key));
  check_header(request, "mcp-method", "Mcp-Method", message.method);
  check_answers(message.params);
  const auto* named = std::ranges::find(named_methods, message.method, &NamedMethod::method);
  if (named == named_methods.end()) return;
  const auto target = string_member(message.params, named->parameter);
  if (target) check_header(request, "mcp-name", "Mcp-Name", std::string(*target));
}

}  // namespace agw
