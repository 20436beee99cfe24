#pragma once

#include <string>

#include "config/environment.hpp"
#include "config/settings.hpp"
#include "io/http_client.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The service that `WebSearch` asks.
struct WebSearchService {
  enum class Kind { none, brave, searxng, tavily };
  Kind kind = Kind::none;
  std::string base_url{};
  std::string api_key{};
  std::string problem{};  ///< why it cannot be asked and what to set, for people; empty where it can
};

/// What the configuration (or else the variables BRAVE_API_KEY, TAVILY_API_KEY, SEARXNG_URL) sets up.
WebSearchService web_search_service(const Settings::WebSearch& settings, const Environment& environment);

/// `WebSearch`. The client outlives the tool.
Tool web_search_tool(HttpClient& http, WebSearchService service);

}  // namespace agw
