#include "io/http/web_request.hpp"

#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr int max_redirects = 10;
/// The maximum size of the pieces that libcurl delivers, even if a few bytes expand greatly.
constexpr std::size_t max_piece_length = 64 * 1024;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Follows redirects from the requested URL to the one that responds.
class RedirectFollower {
public:
  RedirectFollower(HttpClient& http, const WebRequest& request, StopSource& stop)
      : http_(http), request_(request), stop_(stop) {
    answer_.url = request.url;
  }

  Task<> run() {
    for (int redirects = 0;; ++redirects) {
      if (!co_await visit()) co_return;
      const auto next = follows();
      if (!next || !answer_.problem.empty()) co_return;
      AGW_ASSERT(redirects <= max_redirects);
      if (redirects == max_redirects) co_return fail(fmt::format("more than {} redirects", max_redirects));
      answer_ = WebResponse{.url = *next};
    }
  }

  void fail(std::string problem) { answer_ = WebResponse{.problem = std::move(problem), .url = answer_.url}; }
  WebResponse take() { return std::move(answer_); }

private:
  /// Returns false if there is no response.
  Task<bool> visit() {
    AGW_ASSERT(answer_.problem.empty());
    AGW_ASSERT(answer_.body.empty());
    if (auto why = request_.refusal ? request_.refusal(answer_.url) : std::string(); !why.empty()) {
      fail(std::move(why));
      co_return false;
    }
    const auto outcome =
        co_await http_.send(next_request(), [this](const auto&, auto bytes) { return take(bytes); }, stop_);
    answer_.head = outcome.head;
    if (outcome.end == HttpOutcome::End::complete) co_return true;
    fail(fmt::format("{} cannot be reached: {}", answer_.url.host(), outcome.error));
    answer_.refused_address = outcome.refused_address;
    co_return false;
  }

  HttpRequest next_request() const {
    HttpRequest next{.method = request_.method,
                     .url = answer_.url.text(),
                     .headers = request_.headers,
                     .body = request_.body,
                     .idle_timeout = request_.idle_timeout,
                     .max_body_bytes = request_.max_body_bytes + (request_.truncate_body ? max_piece_length : 0),
                     .public_only = !request_.may_be_private || !request_.may_be_private(answer_.url)};
    if (answer_.url.origin() == request_.url.origin()) {
      next.headers.insert(next.headers.end(), request_.origin_headers.begin(), request_.origin_headers.end());
    }
    return next;
  }

  BodyAction take(std::string_view bytes) {
    AGW_ASSERT(answer_.body.size() <= request_.max_body_bytes);
    const auto room = request_.max_body_bytes - answer_.body.size();
    answer_.body.append(bytes.substr(0, room));
    answer_.truncated = bytes.size() > room;
    return answer_.truncated ? BodyAction::abandon : BodyAction::more;
  }

  std::optional<WebUrl> follows() {
    if (!is_redirect(answer_.head.status) || (request_.method != "GET" && request_.method != "HEAD")) return {};
    const auto location = answer_.head.header("location");
    if (!location) return {};
    auto next = answer_.url.resolve(*location);
    if (!next) fail(fmt::format("{} redirects to what is no http or https address", answer_.url.host()));
    return next;
  }

  HttpClient& http_;
  const WebRequest& request_;
  StopSource& stop_;
  WebResponse answer_;
};

}  // namespace

Task<WebResponse> send_web_request(HttpClient& http, WebRequest request, StopSource& stop) {
  RedirectFollower walk(http, request, stop);
  const auto end = co_await with_timeout(stop, request.limit, walk.run());
  if (end == WaitResult::timed_out) {
    walk.fail(fmt::format("{} did not answer within {}", request.url.host(),
                          std::chrono::duration_cast<std::chrono::seconds>(request.limit)));
  }
  if (end == WaitResult::stopped) walk.fail("stopped");
  co_return walk.take();
}

}  // namespace agw
