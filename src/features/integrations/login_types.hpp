#pragma once

#include <optional>
#include <string>

#include "base/json/described.hpp"

namespace agw {

/// The body of `POST /integrations/:name/login`.
struct NewLogin {
  std::string redirect_uri;                        ///< the address to which the service redirects the person
  std::optional<std::string> client_id;            ///< of a client that the person has registered at the service
  std::optional<std::string> client_secret;        ///< of that client, if it has one
  std::optional<std::string> client_metadata_url;  ///< of the client's metadata document, if the service supports that
};
const Description& describe(Tag<NewLogin>);

/// The response of `POST /integrations/:name/login`.
struct StartedLogin {
  std::string authorization_url;  ///< for the person to open
  std::string state;              ///< identifies this login
};
const Description& describe(Tag<StartedLogin>);

/// The body of `POST /integrations/:name/login/finish`.
struct LoginReturn {
  std::string redirected_to;  ///< the complete address of the redirect
};
const Description& describe(Tag<LoginReturn>);

/// The response of `POST /integrations/:name/login/finish`.
struct FinishedLogin {
  std::string status = "ok";
};
const Description& describe(Tag<FinishedLogin>);

}  // namespace agw
