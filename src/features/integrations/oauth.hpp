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

/// Why a login at a service fails, for people. Never holds a token, a code or a secret.
class OAuthError : public std::runtime_error {
public:
  explicit OAuthError(const std::string& why, bool is_final = false) : std::runtime_error(why), is_final_(is_final) {}
  /// Whether the service has refused for good, so that the person must log in anew.
  bool is_final() const { return is_final_; }

private:
  bool is_final_;
};

/// Who we are to a service's authorization server.
struct OAuthClient {
  std::string id;
  std::string secret;          ///< empty for a public client
  std::string auth_method;     ///< `none`, `client_secret_basic` or `client_secret_post`
  bool is_registered = false;  ///< by us, for one login; else the person gave it
};

/// The authorization server of a service, as it describes itself.
struct OAuthServer {
  std::string resource;  ///< what tokens are to be for
  std::string issuer;    ///< empty where it does not describe itself
  WebUrl authorization_endpoint;
  WebUrl token_endpoint;
  std::optional<WebUrl> registration_endpoint;
  std::vector<std::string> auth_methods;
  bool takes_client_urls = false;    ///< a client may be named by the address of its description
  bool names_itself = false;         ///< its answers say `iss`
  std::optional<std::string> scope;  ///< to be asked for
};

/// What a login has brought.
struct OAuthTokens {
  std::string access;
  std::string refresh;          ///< empty: there is none
  std::int64_t expires_at = 0;  ///< seconds since 1970; 0: it does not say
};

/// Asks services and their authorization servers. Addresses that are not public are asked only on the service's own
/// host, and only where a person has set the service up.
class OAuthWeb {
public:
  OAuthWeb(HttpClient& http, WebUrl service, bool may_be_private)
      : http_(http), service_(std::move(service)), may_be_private_(may_be_private) {}

  struct Reply {
    int status = 0;
    json::object body{};      ///< empty where it is no JSON object
    std::string challenge{};  ///< `WWW-Authenticate`
  };
  const WebUrl& service() const { return service_; }
  /// Throws OAuthError where no answer comes.
  Task<Reply> get(WebUrl url) const;
  Task<Reply> post(WebUrl url, std::string content_type, std::string body, std::vector<HttpHeader> headers = {}) const;

private:
  Task<Reply> ask(WebUrl url, std::string method, std::string body, std::vector<HttpHeader> headers) const;

  HttpClient& http_;
  WebUrl service_;
  bool may_be_private_;
};

/// Finds the authorization server of a service: by what its challenge names, else at the well-known places, else, as in
/// the revision 2025-03-26, on the service's own host. Throws OAuthError.
Task<OAuthServer> discover_oauth(const OAuthWeb& web, BearerChallenge challenge);

/// Makes us known to the server. Throws OAuthError where it does not register clients.
Task<OAuthClient> register_client(const OAuthWeb& web, const OAuthServer& server, std::string redirect_uri);
/// How a client that the person gave authenticates itself.
std::string auth_method_of(const OAuthServer& server, bool has_secret);

/// One login under way (RFC 7636). `verifier`: 43 to 128 letters and digits, kept until the code is exchanged.
struct OAuthAttempt {
  std::string state;
  std::string verifier;
  std::string redirect_uri;
};
/// Where the person is to be sent.
std::string authorization_url(const OAuthServer& server, const OAuthClient& client, const OAuthAttempt& attempt);

// Both throw OAuthError.
Task<OAuthTokens> exchange_code(const OAuthWeb& web, const OAuthServer& server, const OAuthClient& client,
                                const OAuthAttempt& attempt, std::string code);
Task<OAuthTokens> refresh_tokens(const OAuthWeb& web, const WebUrl& token_endpoint, const std::string& resource,
                                 const OAuthClient& client, std::string refresh);

}  // namespace agw
