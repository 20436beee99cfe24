#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "io/http/http_client.hpp"
#include "io/http/web_url.hpp"

namespace agw {

/// A request to a URL chosen by a model, a document or a record. Refuses addresses that are not public, also after
/// redirects, unless `may_be_private` allows them.
struct WebRequest {
  WebUrl url;
  std::string method = "GET";
  std::vector<HttpHeader> headers{};         ///< for every server in a chain of redirects
  std::vector<HttpHeader> origin_headers{};  ///< only for the origin of `url`, such as credentials
  std::string body{};
  std::size_t max_body_bytes = 1024 * 1024;
  bool truncate_body = false;               ///< truncate a longer body instead of failing
  std::chrono::milliseconds limit{30'000};  ///< for the whole request, including redirects
  std::chrono::milliseconds idle_timeout{30'000};
  /// Whether this URL may lead to a private address. An empty function means never.
  std::function<bool(const WebUrl& url)> may_be_private{};
  /// The reason why this URL is not allowed, for people; empty if it is allowed. Called before each connection. An
  /// empty function allows all URLs.
  std::function<std::string(const WebUrl& url)> refusal{};
};

/// The outcome of a request.
struct WebResponse {
  std::string problem{};          ///< why there is no response, for people; empty if there is one
  std::string refused_address{};  ///< the address refused because it is not public
  HttpHead head{};
  std::string body{};
  bool truncated = false;  ///< the body was truncated
  WebUrl url{};            ///< the last URL in the chain of redirects
};

/// Sends the request and follows up to 10 redirects of GET and HEAD. Redirects of other methods are returned.
/// Example: src/io/http/web_request_test.cpp: WebRequest.FollowsRedirectsUpToABound
Task<WebResponse> send_web_request(HttpClient& http, WebRequest request, StopSource& stop);

}  // namespace agw
