#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"
#include "server/mcp/api_caller.hpp"

namespace agw {

/// Knowledge pages, threads and proposals as MCP resources: `agw://knowledge/<slug>`, `agw://threads/<id>` and
/// `agw://proposals/<agent>/<date>[/<name>]`, each part percent-encoded.
class Resources {
public:
  explicit Resources(const ApiCaller& api) : api_(api) {}

  /// The result of `resources/list`: all pages and pending proposals, and the latest threads. Throws McpError -32602
  /// for an unknown cursor.
  Task<json::object> list(json::object params) const;
  static json::array templates();
  /// The `contents` of `resources/read`; nullopt if the resource does not exist.
  Task<std::optional<json::array>> read(std::string uri) const;
  /// The possible values of a template's variable that begin with `value`; nullopt for an unknown template.
  Task<std::optional<std::vector<std::string>>> complete(std::string uri_template, std::string variable,
                                                         std::string value, json::object known) const;

  /// The time or version of a knowledge page, which shows whether it has changed; empty if there is no such page.
  Task<std::string> version_of(std::string uri) const;

private:
  /// Lists of the API, as JSON.
  struct Records {
    std::string pages;
    std::string proposals;
    std::string threads;
  };

  Task<Records> records() const;
  static json::array list_of(const Records& records);
  Task<std::string> rows(std::vector<std::string> segments,
                         std::vector<std::pair<std::string, std::string>> parameters = {}) const;
  Task<std::optional<std::string>> body_of(std::vector<std::string> segments) const;

  const ApiCaller& api_;
};

std::string thread_uri(std::string_view id);
std::string proposal_uri(const json::object& proposal);
/// Whether the URI names a knowledge page.
bool is_page_uri(std::string_view uri);
/// Whether the text has the form of a resource's URI.
bool is_resource_uri(std::string_view uri);

}  // namespace agw
