#include "features/proposals/routes.hpp"

#include "api/error.hpp"
#include "api/refusals.hpp"

namespace agw {

namespace {

const std::string& segment(const Request& request, std::string_view name) {
  const auto& text = request.path(name);
  if (!is_proposal_segment(text)) throw BadRequest("invalid path segment");
  return text;
}

ProposalAddress address_of(const Request& request) { return {segment(request, "agent"), segment(request, "date")}; }

ProposalAddress nested_address_of(const Request& request) {
  auto address = address_of(request);
  address.name = segment(request, "name");
  return address;
}

}  // namespace

Routes ProposalRoutes::routes() {
  return {
      get("/proposals", "List the pending proposals, newest first", this, &ProposalRoutes::list)
          .answers<std::vector<ProposalEntry>>(),
      post("/propose", "Stage a change that a person then applies or rejects", this, &ProposalRoutes::propose)
          .body<NewProposal>()
          .answers<Proposal>(201)
          .like({{"agent", "assistant"},
                 {"type", "soul"},
                 {"title", "Greet people by name"},
                 {"target", "agents/assistant/soul.md"},
                 {"content", "Greet people by name.\n"}})
          .fails_with({400, 403, 413}),
      get("/proposals/:agent/:date", "Show a proposal, and what it would change", this, &ProposalRoutes::read)
          .answers<Proposal>()
          .fails_with({400, 404, 413}),
      get("/proposals/:agent/:date/:name", "Show a nested proposal", this, &ProposalRoutes::read_nested)
          .answers<Proposal>()
          .fails_with({400, 404, 413}),
      post("/proposals/:agent/:date/apply", "Apply a proposal, maybe edited", this, &ProposalRoutes::apply)
          .optional_body<ApplyProposal>()
          .answers<ProposalDecided>()
          .fails_with({400, 403, 404, 409, 413}),
      post("/proposals/:agent/:date/reject", "Reject a proposal", this, &ProposalRoutes::reject)
          .optional_body<RejectProposal>()
          .answers<ProposalDecided>()
          .fails_with({400, 404, 409}),
      post("/proposals/:agent/:date/:name/apply", "Apply a nested proposal", this, &ProposalRoutes::apply_nested)
          .optional_body<ApplyProposal>()
          .answers<ProposalDecided>()
          .fails_with({400, 403, 404, 409, 413}),
      post("/proposals/:agent/:date/:name/reject", "Reject a nested proposal", this, &ProposalRoutes::reject_nested)
          .optional_body<RejectProposal>()
          .answers<ProposalDecided>()
          .fails_with({400, 404, 409}),
  };
}

Task<Answer> ProposalRoutes::list(Request&) { co_return Answer::of(co_await proposals_.pending()); }

Task<Answer> ProposalRoutes::propose(Request& request) {
  auto wanted = request.body<NewProposal>();
  StagedChange change{.type = std::move(wanted.type),
                      .title = std::move(wanted.title),
                      .target = std::move(wanted.target),
                      .content = std::move(wanted.content),
                      .reason = wanted.reason.value_or("")};
  std::string reference;
  try {
    reference = co_await proposals_.stage(std::move(wanted.agent), {}, std::move(change));
  } catch (const Forbidden& error) {
    throw path_outside_home({{"details", json::array{{{"path", "target"}, {"message", error.error()}}}}});
  }
  co_return Answer::of(co_await proposals_.require(*read_proposal_address(reference)), 201);
}

Task<Answer> ProposalRoutes::read(Request& request) { return read_at(address_of(request)); }
Task<Answer> ProposalRoutes::read_nested(Request& request) { return read_at(nested_address_of(request)); }
Task<Answer> ProposalRoutes::apply(Request& request) { return apply_at(request, address_of(request)); }
Task<Answer> ProposalRoutes::apply_nested(Request& request) { return apply_at(request, nested_address_of(request)); }
Task<Answer> ProposalRoutes::reject(Request& request) { return reject_at(request, address_of(request)); }
Task<Answer> ProposalRoutes::reject_nested(Request& request) { return reject_at(request, nested_address_of(request)); }

Task<Answer> ProposalRoutes::read_at(ProposalAddress address) {
  co_return Answer::of(co_await proposals_.require(std::move(address)));
}

Task<Answer> ProposalRoutes::apply_at(Request& request, ProposalAddress address) {
  co_await proposals_.check_exists(address);
  auto wanted = request.optional_body<ApplyProposal>();
  co_return Answer::of(
      co_await proposals_.apply(std::move(address), std::move(wanted), request.along<ProposalDecided>(200)));
}

Task<Answer> ProposalRoutes::reject_at(Request& request, ProposalAddress address) {
  co_await proposals_.check_exists(address);
  auto wanted = request.optional_body<RejectProposal>();
  co_return Answer::of(
      co_await proposals_.reject(std::move(address), std::move(wanted), request.along<ProposalDecided>(200)));
}

}  // namespace agw
