#include "features/integrations/login_types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(NewLogin, (), (redirect_uri, client_id, client_secret, client_metadata_url))
constexpr auto rules(Tag<NewLogin>) {
  return std::tuple{
      RuleFor<&NewLogin::redirect_uri>{{.about = "where the service sends the person back to: this machine, or https"}},
      RuleFor<&NewLogin::client_id>{{.about = "of a client made at the service; without it one is registered"}},
      RuleFor<&NewLogin::client_secret>{{.about = "of that client"}},
      RuleFor<&NewLogin::client_metadata_url>{
          {.about = "describes this client, where the service takes such addresses"}}};
}
const Description& describe(Tag<NewLogin>) { return description_of<NewLogin>("NewLogin"); }

BOOST_DESCRIBE_STRUCT(StartedLogin, (), (authorization_url, state))
constexpr auto rules(Tag<StartedLogin>) {
  return std::tuple{
      RuleFor<&StartedLogin::authorization_url>{{.about = "to be opened by the person within ten minutes"}}};
}
const Description& describe(Tag<StartedLogin>) { return description_of<StartedLogin>("StartedLogin"); }

BOOST_DESCRIBE_STRUCT(LoginReturn, (), (redirected_to))
constexpr auto rules(Tag<LoginReturn>) {
  return std::tuple{RuleFor<&LoginReturn::redirected_to>{
      {.about = "the whole address that the person was sent back to, query included"}}};
}
const Description& describe(Tag<LoginReturn>) { return description_of<LoginReturn>("LoginReturn"); }

BOOST_DESCRIBE_STRUCT(FinishedLogin, (), (status))
const Description& describe(Tag<FinishedLogin>) { return description_of<FinishedLogin>("FinishedLogin"); }

}  // namespace agw
