#pragma once

#include "features/integrations/integration.hpp"
#include "features/secrets/service.hpp"
#include "io/http/web_request.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// Where the service of an integration is and what it is told of us, the secrets filled in.
struct ServiceAddress {
  WebUrl url;
  std::vector<HttpHeader> headers;
  FilledSecrets secrets;  ///< that are in it
  std::string problem;    ///< why there is none, for people
};
/// Blocks. Throws SecretError.
ServiceAddress filled_address(const Secrets& secrets, const IntegrationSettings& settings);
/// That off the loop, a SecretError as a problem.
Task<ServiceAddress> service_address(BlockingPool& blocking, const Secrets& secrets, IntegrationSettings settings);

/// A request to `url` by that address: its headers go to the origin of its URL only, and private addresses are called
/// only for a person's integration, on that URL's host.
WebRequest service_request(const ServiceAddress& address, const IntegrationSettings& settings, WebUrl url);

/// Asks it. A problem is told without the secrets of the address.
Task<WebResponse> ask_service(HttpClient& http, WebRequest request, const ServiceAddress& address, StopSource& stop);

/// What the model is told of an answer: nothing of the secrets that it may quote.
ToolOutcome service_outcome(const WebResponse& response, const ServiceAddress& address);

/// `path` behind that of the URL; of both the queries, the URL's first.
std::string with_path(std::string_view url, std::string_view path);

/// Adds members as a query.
std::string with_query(std::string url, const json::object& query);

/// A service without a description: one tool, `request`, which asks anything beneath its URL.
class HttpIntegration : public Integration {
public:
  HttpIntegration(HttpClient& http, BlockingPool& blocking, const Secrets& secrets, IntegrationSettings settings);

  Task<> live(StopSource& stop) override;
  Task<ToolOutcome> call(std::string tool, const ToolCall& call) override;

private:
  HttpClient& http_;
  BlockingPool& blocking_;
  const Secrets& secrets_;
};

}  // namespace agw
