#pragma once

#include "api/route.hpp"
#include "features/agents/service.hpp"

namespace agw {

/// Souls, user profiles and stages.
class AgentRoutes {
public:
  AgentRoutes(Identities& identities, Stages& stages) : identities_(identities), stages_(stages) {}
  Routes routes();

private:
  Task<Answer> base_soul(Request& request);
  Task<Answer> set_base_soul(Request& request);
  Task<Answer> soul(Request& request);
  Task<Answer> set_soul(Request& request);
  Task<Answer> shared_profile(Request& request);
  Task<Answer> set_shared_profile(Request& request);
  Task<Answer> profile(Request& request);
  Task<Answer> set_profile(Request& request);
  Task<Answer> stage(Request& request);
  Task<Answer> set_stage(Request& request);

  Task<Answer> show(IdentityFile file, std::optional<std::string> agent);
  Task<Answer> store(IdentityFile file, std::optional<std::string> agent, Request& request);

  Identities& identities_;
  Stages& stages_;
};

}  // namespace agw
