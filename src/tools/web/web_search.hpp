#pragma once

#include <string>

#include "config/environment.hpp"
#include "config/settings.hpp"
#include "io/http/http_client.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The service behind `WebSearch`.
/// Example: src/tools/web/web_search_test.cpp: WebSearch.AsksSearxng
struct WebSearchService {
  enum class Kind { none, brave, searxng, tavily };
  Kind kind = Kind::none;
  std::string base_url{};
  std::string api_key{};
  std::string problem{};  ///< why it is not available and what to set, for people; empty if it is
};

/// The service that the configuration sets up, or else the variables BRAVE_API_KEY, TAVILY_API_KEY, SEARXNG_URL.
WebSearchService web_search_service(const Settings::WebSearch& settings, const Environment& environment);

/// `WebSearch`. The client must outlive the tool.
Tool web_search_tool(HttpClient& http, WebSearchService service);

}  // namespace agw
