#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json/json.hpp"
#include "features/integrations/bearer_challenge.hpp"
#include "io/http/http_client.hpp"
#include "io/http/web_url.hpp"

namespace agw {

/// Why a login at a service failed, human-readable. Never contains a token, a code or a secret.
class OAuthError : public std::runtime_error {
public:
  explicit OAuthError(const std::string& why, bool is_final = false) : std::runtime_error(why), is_final_(is_final) {}
  /// Whether a retry is useless, so that the person must log in again.
  bool is_final() const { return is_final_; }

private:
  bool is_final_;
};

/// The gateway's client at an authorization server.
struct OAuthClient {
  std::string id;
  std::string secret;          ///< empty for a public client
  std::string auth_method;     ///< `none`, `client_secret_basic` or `client_secret_post`
  bool is_registered = false;  ///< by the gateway, for one login; otherwise the person supplied it
};

/// A service's authorization server, from its metadata.
struct OAuthServer {
  std::string resource;  ///< the resource for which tokens are requested
  std::string issuer;    ///< empty if it has no metadata
  WebUrl authorization_endpoint;
  WebUrl token_endpoint;
  std::optional<WebUrl> registration_endpoint;
  std::vector<std::string> auth_methods;
  bool takes_client_urls = false;    ///< supports client ids that are metadata URLs
  bool names_itself = false;         ///< its responses include `iss`
  std::optional<std::string> scope;  ///< the scope to request
};

/// The tokens from a login.
struct OAuthTokens {
  std::string access;
  std::string refresh;          ///< empty if there is none
  std::int64_t expires_at = 0;  ///< seconds since 1970; 0: unknown
};

/// Sends requests to services and their authorization servers. Non-public addresses are reachable only on the service's
/// own host, and only if a person configured the service.
class OAuthWeb {
public:
  OAuthWeb(HttpClient& http, WebUrl service, bool may_be_private)
      : http_(http), service_(std::move(service)), may_be_private_(may_be_private) {}

  struct Reply {
    int status = 0;
    json::object body{};      ///< empty if it is not a JSON object
    std::string challenge{};  ///< `WWW-Authenticate`
  };
  const WebUrl& service() const { return service_; }
  /// Throws OAuthError if there is no response.
  Task<Reply> get(WebUrl url) const;
  Task<Reply> post(WebUrl url, std::string content_type, std::string body, std::vector<HttpHeader> headers = {}) const;

private:
  Task<Reply> send_request(WebUrl url, std::string method, std::string body, std::vector<HttpHeader> headers) const;

  HttpClient& http_;
  WebUrl service_;
  bool may_be_private_;
};

/// Discovers a service's authorization server: by the metadata that its challenge refers to, else by the metadata at
/// the well-known paths, else, as in revision 2025-03-26, on the service's own host. Throws OAuthError.
Task<OAuthServer> discover_oauth(const OAuthWeb& web, BearerChallenge challenge);

/// Registers the gateway with the server. Throws OAuthError if the server does not register clients.
Task<OAuthClient> register_client(const OAuthWeb& web, const OAuthServer& server, std::string redirect_uri);
/// The authentication method for a client that the person supplied.
std::string auth_method_of(const OAuthServer& server, bool has_secret);

/// A login in progress (RFC 7636). `verifier`: 43 to 128 letters and digits, kept until the code is exchanged.
struct OAuthAttempt {
  std::string state;
  std::string verifier;
  std::string redirect_uri;
};
/// The address that the person must open to log in.
std::string authorization_url(const OAuthServer& server, const OAuthClient& client, const OAuthAttempt& attempt);

// These throw OAuthError.
Task<OAuthTokens> exchange_code(const OAuthWeb& web, const OAuthServer& server, const OAuthClient& client,
                                const OAuthAttempt& attempt, std::string code);
Task<OAuthTokens> refresh_tokens(const OAuthWeb& web, const WebUrl& token_endpoint, const std::string& resource,
                                 const OAuthClient& client, std::string refresh);

}  // namespace agw
