#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/blocking.hpp"
#include "io/http_client.hpp"
#include "io/web_url.hpp"
#include "tools/tool.hpp"

namespace agw {

/// What may be fetched without asking.
struct WebFetchOptions {
  std::vector<std::string> allow_hosts;  ///< fetched from at any stage, private addresses included
  /// Whether the URL stands in a user turn or in a result of WebSearch of the run's thread.
  std::function<Task<bool>(const ToolRun& run, const WebUrl& url)> was_named;
};

/// `WebFetch`: a page as Markdown, other text as it is. The references outlive the tool.
Tool web_fetch_tool(HttpClient& http, BlockingPool& blocking, WebFetchOptions options);

/// Whether `url` stands in `text` as a whole address, with or without its scheme.
bool names_url(std::string_view text, const WebUrl& url);

}  // namespace agw
