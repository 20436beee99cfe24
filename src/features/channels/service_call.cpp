#include "features/channels/service_call.hpp"

#include <utility>

#include "models/failures.hpp"
#include "models/json_reader.hpp"

namespace agw {

Task<ServiceResponse> call_service(HttpClient& http, const ChannelAccount& account, ServiceCall call,
                                   StopSource& stop) {
  HttpRequest request{.method = std::move(call.method),
                      .url = account.address + call.path,
                      .headers = std::move(call.headers),
                      .body = std::move(call.body),
                      .idle_timeout = call.idle_timeout,
                      .max_body_bytes = call.max_bytes,
                      .public_only = !account.is_persons,
                      .no_metadata = true};
  ServiceResponse response;
  const auto outcome = co_await http.send(
      std::move(request),
      [&response](const HttpHead&, std::string_view bytes) {
        response.bytes += bytes;
        return BodyAction::more;
      },
      stop);
  response.stopped = outcome.end == HttpOutcome::End::stopped;
  response.error = account.secrets.hidden_in(outcome.error);
  if (outcome.end != HttpOutcome::End::complete) co_return response;
  response.status = outcome.head.status;
  response.retry_after = retry_after(outcome.head, SystemClock().now()).value_or(std::chrono::milliseconds(0));
  if (call.keeps_bytes && response.status == 200) co_return response;
  if (auto body = parse_object(response.bytes)) response.body = *std::move(body);
  response.bytes.clear();
  co_return response;
}

}  // namespace agw
