#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json/json.hpp"
#include "features/extensions/types.hpp"
#include "features/permissions/types.hpp"
#include "io/http/http_client.hpp"
#include "io/proxy/declared_secrets.hpp"

namespace agw {

/// The kind of service behind an integration, from its `kind`.
enum class IntegrationKind { mcp_stdio, mcp_http, openapi, http, browser };

/// The environment of a server's process. It may have hundreds of thousands of variables, so it is parsed only when the
/// process starts, outside the loop.
class ServerVariables {
public:
  ServerVariables() = default;
  explicit ServerVariables(Definition definition) : definition_(std::move(definition)) {}

  /// Values contain `${secret:NAME}` unexpanded.
  std::map<std::string, std::string> read() const;
  bool operator==(const ServerVariables& other) const;

private:
  Definition definition_;
};

/// The definition of an `integration` extension. Texts contain `${secret:NAME}` unexpanded, because secrets are
/// expanded for each call.
struct IntegrationSettings {
  std::string id;
  std::string name;
  IntegrationKind kind{};
  std::string command{};
  std::vector<std::string> arguments{};
  ServerVariables variables{};
  std::string url{};
  std::vector<HttpHeader> headers{};
  std::optional<std::set<std::string, std::less<>>> allowed_tools{};  ///< no value: all
  bool is_persons = false;                                            ///< made by a person: may call private addresses
  ProgramHosts program{};                                             ///< hosts that the server's process may reach
  std::vector<DeclaredSecret> secrets{};                              ///< secrets that only its proxy receives

  bool operator==(const IntegrationSettings&) const = default;
};
IntegrationSettings integration_settings(const Extension& extension);

/// A tool as its service describes it. Untrusted.
struct OfferedTool {
  std::string name;
  std::string description;
  json::object input_schema;
};

/// The tool's name for models: `<integration>__<tool>`, at most 64 letters, digits, `_` and `-`. Other names are
/// shortened and made unique by a hash.
std::string tool_name_of(const std::string& integration, const std::string& tool);
/// The name with a hash, even if it is not necessary, for tools whose names would otherwise be equal.
std::string hashed_tool_name_of(const std::string& integration, const std::string& tool);
/// Whether the name for models can be that of a tool of the integration. Integrations whose long names begin alike are
/// not told apart.
bool can_be_tool_of(const std::string& integration, std::string_view tool_name);

}  // namespace agw
