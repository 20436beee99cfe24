#pragma once

#include <optional>
#include <string>

#include "base/json/described.hpp"

namespace agw {

/// The body of `POST /integrations/:name/login`.
struct NewLogin {
  std::string redirect_uri;                        ///< where the service sends the person back to
  std::optional<std::string> client_id;            ///< of a client that the person has made there
  std::optional<std::string> client_secret;        ///< its secret, where it has one
  std::optional<std::string> client_metadata_url;  ///< of a description of this client, where the service takes such
};
const Description& describe(Tag<NewLogin>);

/// Its answer.
struct StartedLogin {
  std::string authorization_url;  ///< to be opened by the person
  std::string state;              ///< tells this login from others
};
const Description& describe(Tag<StartedLogin>);

/// The body of `POST /integrations/:name/login/finish`.
struct LoginReturn {
  std::string redirected_to;  ///< the whole address that the person was sent back to
};
const Description& describe(Tag<LoginReturn>);

/// Its answer.
struct FinishedLogin {
  std::string status = "ok";
};
const Description& describe(Tag<FinishedLogin>);

}  // namespace agw
