#pragma once

#include "features/integrations/integration.hpp"
#include "features/secrets/service.hpp"
#include "io/http/web_request.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// The URL and headers of an integration's service, with secrets expanded.
struct ServiceAddress {
  WebUrl url;
  std::vector<HttpHeader> headers;
  FilledSecrets secrets;  ///< that were expanded
  std::string problem;    ///< the reason, if there is no address
};
/// Blocks. Throws SecretError.
ServiceAddress filled_address(const Secrets& secrets, const IntegrationSettings& settings);
/// Calls `filled_address` off the loop. Reports a SecretError as a problem.
Task<ServiceAddress> service_address(BlockingPool& blocking, const Secrets& secrets, IntegrationSettings settings);

/// A request to `url` with the address's headers, which are sent only to the origin of its own URL. Private addresses
/// are reachable only for a person's integration, on that URL's host.
WebRequest service_request(const ServiceAddress& address, const IntegrationSettings& settings, WebUrl url);

/// Sends the request. Problems do not contain the secrets of the address.
Task<WebResponse> send_to_service(HttpClient& http, WebRequest request, const ServiceAddress& address,
                                  StopSource& stop);

/// The outcome for the model, with secrets removed that the service may quote.
ToolOutcome service_outcome(const WebResponse& response, const ServiceAddress& address);

/// Appends `path` to the URL's path, and its query to the URL's query.
std::string with_path(std::string_view url, std::string_view path);

/// Appends the members as a query.
std::string with_query(std::string url, const json::object& query);

/// A service without a description: a single tool, `request`, reaches anything below its URL.
class HttpIntegration : public Integration {
public:
  HttpIntegration(HttpClient& http, BlockingPool& blocking, const Secrets& secrets, IntegrationSettings settings);

  Task<> run(StopSource& stop) override;
  Task<ToolOutcome> call(std::string tool, const ToolCall& call) override;

private:
  HttpClient& http_;
  BlockingPool& blocking_;
  const Secrets& secrets_;
};

}  // namespace agw
