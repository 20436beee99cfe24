#include "api/body.hpp"
#include "api/error.hpp"
#include "api/refusals.hpp"
#include "api/route.hpp"
#include "features/proposals/service.hpp"

namespace agw {

namespace {

const std::string& segment(const Request& request, std::string_view name) {
  const auto& text = request.path(name);
  if (!is_proposal_segment(text)) throw BadRequest("invalid path segment");
  return text;
}

/// Writing a response with a text of this size would hold the loop for milliseconds.
constexpr std::size_t large_proposal = 256 * 1024;  // bytes
constexpr std::size_t max_entries_on_loop = 1000;

std::size_t size_of(const std::optional<std::string>& text) { return text ? text->size() : 0; }

ProposalAddress address_of(const Request& request) { return {segment(request, "agent"), segment(request, "date")}; }

ProposalAddress nested_address_of(const Request& request) {
  auto address = address_of(request);
  address.name = segment(request, "name");
  return address;
}

Task<Response> list_proposals(Proposals& proposals, Request& request) {
  auto entries = co_await proposals.pending();
  const bool is_long = entries.size() > max_entries_on_loop;
  co_return co_await proposals.disk().run_if(
      is_long, [&request, entries = std::move(entries)] { return request.respond(entries); });
}

Task<Response> create_proposal(Proposals& proposals, Request& request) {
  auto wanted = co_await long_body<NewProposal>(request);
  StagedChange change{.type = std::move(wanted.type),
                      .title = std::move(wanted.title),
                      .target = std::move(wanted.target),
                      .content = std::move(wanted.content),
                      .reason = wanted.reason.value_or("")};
  std::string reference;
  try {
    reference = co_await proposals.stage(std::move(wanted.agent), {}, std::move(change));
  } catch (const Forbidden& error) {
    throw path_outside_home({{"details", json::array{{{"path", "target"}, {"message", error.error()}}}}});
  }
  const auto staged = co_await proposals.require(*read_proposal_address(reference));
  co_return co_await respond_in_kind(request, staged);
}

Task<Response> show_proposal_at(Proposals& proposals, const Request& request, ProposalAddress address) {
  const auto proposal = co_await proposals.require(std::move(address));
  const auto size = size_of(proposal.content) + size_of(proposal.current_content);
  co_return co_await proposals.disk().run_if(size > large_proposal, [&] { return request.respond(proposal); });
}

Task<Response> apply_proposal_at(Proposals& proposals, Request& request, ProposalAddress address) {
  co_await proposals.check_exists(address);
  auto wanted = request.optional_body<ApplyProposal>();
  co_return request.respond(
      co_await proposals.apply(std::move(address), std::move(wanted), request.in_transaction<ProposalDecided>()));
}

Task<Response> reject_proposal_at(Proposals& proposals, Request& request, ProposalAddress address) {
  co_await proposals.check_exists(address);
  auto wanted = request.optional_body<RejectProposal>();
  co_return request.respond(
      co_await proposals.reject(std::move(address), std::move(wanted), request.in_transaction<ProposalDecided>()));
}

Task<Response> show_proposal(Proposals& proposals, Request& request) {
  return show_proposal_at(proposals, request, address_of(request));
}
Task<Response> show_nested_proposal(Proposals& proposals, Request& request) {
  return show_proposal_at(proposals, request, nested_address_of(request));
}
Task<Response> apply_proposal(Proposals& proposals, Request& request) {
  return apply_proposal_at(proposals, request, address_of(request));
}
Task<Response> apply_nested_proposal(Proposals& proposals, Request& request) {
  return apply_proposal_at(proposals, request, nested_address_of(request));
}
Task<Response> reject_proposal(Proposals& proposals, Request& request) {
  return reject_proposal_at(proposals, request, address_of(request));
}
Task<Response> reject_nested_proposal(Proposals& proposals, Request& request) {
  return reject_proposal_at(proposals, request, nested_address_of(request));
}

}  // namespace

Routes proposal_routes(Proposals& proposals) {
  return {
      get("/proposals", "List the pending proposals, newest first", list_proposals, proposals)
          .responds<std::vector<ProposalEntry>>(),
      post("/propose", "Stage a change that a person then applies or rejects", create_proposal, proposals)
          .body<NewProposal>()
          .responds<Proposal>(201)
          .with_example({{"agent", "assistant"},
                         {"type", "soul"},
                         {"title", "Greet people by name"},
                         {"target", "agents/assistant/soul.md"},
                         {"content", "Greet people by name.\n"}})
          .fails_with({400, 403, 413}),
      get("/proposals/:agent/:date", "Show a proposal, and what it would change", show_proposal, proposals)
          .responds<Proposal>()
          .fails_with({400, 404, 413}),
      get("/proposals/:agent/:date/:name", "Show a nested proposal", show_nested_proposal, proposals)
          .responds<Proposal>()
          .fails_with({400, 404, 413}),
      post("/proposals/:agent/:date/apply", "Apply a proposal, maybe edited", apply_proposal, proposals)
          .optional_body<ApplyProposal>()
          .responds<ProposalDecided>()
          .fails_with({400, 403, 404, 409, 413}),
      post("/proposals/:agent/:date/reject", "Reject a proposal", reject_proposal, proposals)
          .optional_body<RejectProposal>()
          .responds<ProposalDecided>()
          .fails_with({400, 404, 409}),
      post("/proposals/:agent/:date/:name/apply", "Apply a nested proposal", apply_nested_proposal, proposals)
          .optional_body<ApplyProposal>()
          .responds<ProposalDecided>()
          .fails_with({400, 403, 404, 409, 413}),
      post("/proposals/:agent/:date/:name/reject", "Reject a nested proposal", reject_nested_proposal, proposals)
          .optional_body<RejectProposal>()
          .responds<ProposalDecided>()
          .fails_with({400, 404, 409}),
  };
}

}  // namespace agw
