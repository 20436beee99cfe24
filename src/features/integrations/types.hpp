#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.hpp"
#include "features/extensions/types.hpp"
#include "io/http/http_client.hpp"

namespace agw {

/// What stands at the other end of an integration, as its `kind` says.
enum class IntegrationKind { mcp_stdio, mcp_http, openapi, http };

/// The variables of a server's process. They can be hundreds of thousands: read where it is started, not on the loop.
class ServerVariables {
public:
  ServerVariables() = default;
  explicit ServerVariables(Definition definition) : definition_(std::move(definition)) {}

  /// With `${secret:NAME}` as it was written.
  std::map<std::string, std::string> read() const;
  bool operator==(const ServerVariables& other) const;

private:
  Definition definition_;
};

/// What an `integration` extension says. Texts as they stand there: secrets are filled in at the call.
struct IntegrationSettings {
  std::string id;
  std::string name;
  IntegrationKind kind{};
  std::string command{};
  std::vector<std::string> arguments{};
  ServerVariables variables{};
  std::string url{};
  std::vector<HttpHeader> headers{};
  std::optional<std::set<std::string, std::less<>>> allowed_tools{};  ///< none given: all
  bool is_persons = false;                                            ///< private addresses may be called

  bool operator==(const IntegrationSettings&) const = default;
};
IntegrationSettings integration_settings(const Extension& extension);

/// A tool that an integration offers, in its own words: untrusted.
struct OfferedTool {
  std::string name;
  std::string description;
  json::object input_schema;
};

/// The tool's name for models: `<integration>__<tool>`, of letters, digits, `_` and `-`, 64 at most. What does not fit
/// is cut and told apart by a hash.
std::string tool_name_of(const std::string& integration, const std::string& tool);
/// The name that has the hash in any case, for one of two that would have the same.
std::string hashed_tool_name_of(const std::string& integration, const std::string& tool);

}  // namespace agw
