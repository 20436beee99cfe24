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

/// A request to a URL that a model, a document or a record chose. Addresses that are not public are refused, at every
/// redirect, unless `may_be_private` allows them.
struct WebRequest {
  WebUrl url;
  std::string method = "GET";
  std::vector<HttpHeader> headers{};         ///< for every server in a chain of redirects
  std::vector<HttpHeader> origin_headers{};  ///< for the origin of `url` only, such as credentials
  std::string body{};
  std::size_t max_body_bytes = 1024 * 1024;
  bool truncate_body = false;               ///< a longer body is truncated, instead of being an error
  std::chrono::milliseconds limit{30'000};  ///< for the whole request, including redirects
  std::chrono::milliseconds idle_timeout{30'000};
  /// Whether this URL may lead to a private address. Empty: never.
  std::function<bool(const WebUrl& url)> may_be_private{};
  /// Why this URL is not allowed, for people; empty if it is. Called before each connection. Empty function: all are.
  std::function<std::string(const WebUrl& url)> refusal{};
};

/// The outcome of a request.
struct WebResponse {
  std::string problem{};          ///< why there is no response, for people; empty if there is one
  std::string refused_address{};  ///< the address that was refused because it is not public
  HttpHead head{};
  std::string body{};
  bool truncated = false;  ///< the body was longer
  WebUrl url{};            ///< the last URL of the chain of redirects
};

/// Sends the request and follows up to 10 redirects of GET and HEAD. Redirects of other methods are returned.
/// Example: src/io/http/web_request_test.cpp: WebRequest.FollowsRedirectsUpToABound
Task<WebResponse> send_web_request(HttpClient& http, WebRequest request, StopSource& stop);

}  // namespace agw
