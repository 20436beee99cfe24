#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/cut.hpp"
#include "base/task.hpp"
#include "io/http_client.hpp"
#include "io/web_url.hpp"

namespace agw {

/// What to ask of a server whose address was chosen by a model, a document or a record, so that it is guarded:
/// addresses that are not public are refused, at every redirect, unless `may_be_private` says otherwise.
struct WebRequest {
  WebUrl url;
  std::string method = "GET";
  std::vector<HttpHeader> headers{};      ///< for every server on the way
  std::vector<HttpHeader> own_headers{};  ///< for the origin of `url` only: credentials
  std::string body{};
  std::size_t max_body_bytes = 1024 * 1024;
  bool cut_body = false;                    ///< a longer body is cut there, instead of being an error
  std::chrono::milliseconds limit{30'000};  ///< for all of it
  std::chrono::milliseconds silence_limit{30'000};
  /// Whether a private address may be called for this URL. None: never.
  std::function<bool(const WebUrl& url)> may_be_private{};
  /// Why this URL may not be asked, for people; empty where it may. Asked before each connection. None: all may.
  std::function<std::string(const WebUrl& url)> refusal{};
};

/// What came of a request.
struct WebAnswer {
  std::string problem{};          ///< why there is no answer, for people; empty where there is one
  std::string refused_address{};  ///< where that is an address that is not one of the public internet
  HttpHead head{};
  std::string body{};
  bool cut = false;  ///< the body is longer
  WebUrl url{};      ///< that answered in the end
};

/// Asks, and follows up to 10 redirects of GET and HEAD. Another method's redirect is the answer.
Task<WebAnswer> ask_web(HttpClient& http, WebRequest request, Stop& stop);

}  // namespace agw
