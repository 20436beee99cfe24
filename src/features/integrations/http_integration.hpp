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
  FilledSecrets secrets;  ///< the expanded secrets
  std::string problem;    ///< why there is no address; empty if there is one
};
/// Expands the secrets of the settings. Blocks. Throws SecretError.
ServiceAddress filled_address(const Secrets& secrets, const IntegrationSettings& settings);
/// Calls `filled_address` outside the loop. Reports a SecretError as a problem.
Task<ServiceAddress> service_address(BlockingPool& blocking, const Secrets& secrets, IntegrationSettings settings);

/// A request to `url`. Contains the address's headers only if `url` has the same origin as the address. Only an
/// integration made by a person may reach private addresses, and only on the host of its own URL.
WebRequest service_request(const ServiceAddress& address, const IntegrationSettings& settings, WebUrl url);

/// Sends the request. Problems do not contain the secrets of the address.
Task<WebResponse> send_to_service(HttpClient& http, WebRequest request, const ServiceAddress& address,
                                  StopSource& stop);

/// The outcome for the model, without secrets that the service may have quoted.
ToolOutcome service_outcome(const WebResponse& response, const ServiceAddress& address);

/// Appends `path` to the URL's path, and its query to the URL's query.
std::string with_path(std::string_view url, std::string_view path);

/// Appends the members as a query.
std::string with_query(std::string url, const json::object& query);

/// A service without a description: a single tool, `request`, can access everything below its URL.
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
