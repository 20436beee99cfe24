#include "io/http/http_client.hpp"

#include <algorithm>
#include <utility>

#include <boost/algorithm/string/predicate.hpp>

#include "io/http/curl.hpp"
#include "io/http/http_multi.hpp"
#include "io/http/http_transfer.hpp"
#include "io/process/blocking.hpp"
#include "io/tls/certificate_authority.hpp"
#include "io/tls/trusted_roots.hpp"

namespace agw {

std::optional<std::string_view> HttpHead::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &HttpHeader::name);
  if (found == headers.end()) return std::nullopt;
  return std::string_view(found->value);
}

HttpClient::HttpClient(Loop& loop) : loop_(loop), roots_(std::make_shared<TrustedRootsFile>()) {}

HttpClient::~HttpClient() = default;

Task<std::string> HttpClient::prepare(bool uses_tls) {
  if (!Curl::is_loaded()) co_await BlockingPool(loop_, 1).run([] { Curl::get(); });
  const auto& problem = Curl::get().error;
  if (!problem.empty() || !uses_tls || !multi()->needs_roots()) co_return problem;
  try {
    BlockingPool loader(loop_, 1);
    multi()->trust(co_await loader.run([file = roots_] { return file->load(); }));
  } catch (const TlsError& error) {
    co_return error.what();
  }
  co_return "";
}

Task<HttpOutcome> HttpClient::send(HttpRequest request, OnBody on_body, StopSource& stop) {
  if (auto problem = co_await prepare(boost::algorithm::istarts_with(request.url, "https:")); !problem.empty())
    co_return HttpOutcome{.error = std::move(problem), .is_lasting = true};
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
