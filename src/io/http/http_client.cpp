#include "io/http/http_client.hpp"

#include <algorithm>
#include <utility>

#include "io/http/curl.hpp"
#include "io/http/http_multi.hpp"
#include "io/http/http_transfer.hpp"
#include "io/process/blocking.hpp"

namespace agw {

std::optional<std::string_view> HttpHead::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &HttpHeader::name);
  if (found == headers.end()) return std::nullopt;
  return std::string_view(found->value);
}

namespace {

/// On another thread, because it takes tens of milliseconds.
Task<> load_curl(Loop& loop) {
  BlockingPool loader(loop, 1);
  co_await loader.run([] { Curl::get(); });
}

}  // namespace

HttpClient::HttpClient(Loop& loop) : loop_(loop) {}

HttpClient::~HttpClient() = default;

Task<HttpOutcome> HttpClient::send(HttpRequest request, OnBody on_body, StopSource& stop) {
  if (!Curl::is_loaded()) co_await load_curl(loop_);
  const auto& curl = Curl::get();
  if (!curl.error.empty()) co_return HttpOutcome{HttpOutcome::End::broken, {}, curl.error};
  const auto transfer = std::make_shared<HttpTransfer>(*multi(), std::move(request), std::move(on_body));
  StopSource::Listener listener(stop, [&] { transfer->end(HttpOutcome::End::stopped, "stopped"); });
  if (!stop.requested()) transfer->start();
  co_return co_await transfer->outcome();
}

std::shared_ptr<HttpMulti> HttpClient::multi() {
  if (!multi_) multi_ = std::make_shared<HttpMulti>(loop_, Curl::get());
  return multi_;
}

}  // namespace agw
