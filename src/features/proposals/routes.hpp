#pragma once

#include "api/route.hpp"
#include "features/proposals/service.hpp"

namespace agw {

/// `/proposals` and `/propose`.
class ProposalRoutes {
public:
  explicit ProposalRoutes(Proposals& proposals) : proposals_(proposals) {}
  Routes routes();

private:
  Task<Answer> list(Request& request);
  Task<Answer> propose(Request& request);
  Task<Answer> read(Request& request);
  Task<Answer> read_nested(Request& request);
  Task<Answer> apply(Request& request);
  Task<Answer> apply_nested(Request& request);
  Task<Answer> reject(Request& request);
  Task<Answer> reject_nested(Request& request);

  Task<Answer> read_at(ProposalAddress address);
  Task<Answer> apply_at(Request& request, ProposalAddress address);
  Task<Answer> reject_at(Request& request, ProposalAddress address);

  Proposals& proposals_;
};

}  // namespace agw
