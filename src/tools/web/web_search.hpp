#pragma once

#include <string>

#include "config/environment.hpp"
#include "config/settings.hpp"
#include "io/http/http_client.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The service that `WebSearch` uses.
/// Example: src/tools/web/web_search_test.cpp: WebSearch.AsksSearxng
struct WebSearchService {
  enum class Kind { none, brave, searxng, tavily };
  Kind kind = Kind::none;
  std::string base_url{};
  std::string api_key{};
  std::string problem{};  ///< why it is unavailable and what to set, for people; else empty
  std::string
      missing_variable{};  ///< with a problem: the environment variable that would solve it; empty if none would
};

/// Returns the service in the configuration, else the one of the variables BRAVE_API_KEY, TAVILY_API_KEY, SEARXNG_URL.
WebSearchService web_search_service(const Settings::WebSearch& settings, const Environment& environment);

/// `WebSearch`. The client must outlive the tool.
Tool web_search_tool(HttpClient& http, WebSearchService service);

}  // namespace agw
