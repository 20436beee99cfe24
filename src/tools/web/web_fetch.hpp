#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/http/http_client.hpp"
#include "io/http/web_url.hpp"
#include "io/process/blocking.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Which URLs may be fetched without asking.
struct WebFetchOptions {
  std::vector<std::string> allow_hosts;  ///< allowed at any stage, including private addresses
  /// Whether the URL appears in a user turn or in a WebSearch result of the run's thread.
  std::function<Task<bool>(const ToolRun& run, const WebUrl& url)> was_named;
};

/// `WebFetch`: a page as Markdown, other text unchanged. The references must outlive the tool.
/// Example: src/tools/web/web_fetch_test.cpp: WebFetch.GivesAPageAsMarkdown
Tool web_fetch_tool(HttpClient& http, BlockingPool& blocking, WebFetchOptions options);

/// Whether `text` contains `url` as a complete address, with or without its scheme.
bool mentions_url(std::string_view text, const WebUrl& url);

}  // namespace agw
