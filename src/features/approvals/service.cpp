// How a call waits for a person, and is decided once.
//
// A *request* is a call or a question that a person has to decide on. It is in `waiting_` from before its row is stored
// until it is decided. A *grant* is a permission that also covers later calls.
//
// Invariant: a request gets one decision, from a person, the time limit or a stop, and the row, the events and the
// waiting call all have the same one.
//
// 1. `ask`: store the row, publish `permission-requested`, wait for `changed`.
// 2. `decide`: mark the request as being decided, store decision and grant in one transaction, then record it.
// 3. `end_undecided`, on a time limit, a stop or the end of the run: mark the request as being decided, store the
//    refusal, record it.
//
// Only one of 2 and 3 happens, because all of this runs on the loop. Both begin only if the request is neither decided
// nor being decided, and both mark it before they await anything.
//
// After a kill, the row has no decision, and the run that asked ends as interrupted. The next start ends the request
// (`load`).

#include "features/approvals/service.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "config/settings.hpp"
#include "features/approvals/store.hpp"
#include "storage/database.hpp"
#include "storage/start_write.hpp"
#include "tools/input.hpp"

namespace agw {

namespace {

constexpr std::size_t max_answer_size = 100'000;
constexpr std::size_t max_reason_size = 10'000;
// One run cannot use up what is there for all.
static_assert(Approvals::max_of_run < Approvals::max_waiting);

ApiError not_possible() { return BadRequest("decision not possible"); }
ApiError already_decided() { return Conflict("permission request already decided"); }
ApiError grant_not_found() { return NotFound("grant not found"); }

std::size_t shown_size(const AskedCall& call) {
  auto size = to_json(call.input).size() + call.diff.size() + call.target.size();
  if (call.question) size += RecordView(*call.question).members().size() + call.question->question.size();
  return size;
}

bool is_answer(const AskedQuestion& question, const json::value& answer) {
  if (!question.form)
    return answer.is_string() && !answer.get_string().empty() && answer.get_string().size() <= max_answer_size;
  return answer.is_object() && to_json(answer).size() <= max_answer_size &&
         !input_problem(*question.form, answer.get_object());
}

/// Whether a person may decide on the request in this way.
bool is_possible(const PermissionRequest& request, const DecidePermission& wanted) {
  if (wanted.reason.value_or("").size() > max_reason_size) return false;
  if (request.question) {
    if (wanted.answer) return !wanted.decision && is_answer(*request.question, *wanted.answer);
    return wanted.decision == PermissionDecision::deny;
  }
  if (!wanted.decision || wanted.answer || wanted.decision == PermissionDecision::answer) return false;
  if (wanted.decision == PermissionDecision::propose && !request.can_propose) return false;
  return wanted.decision != PermissionDecision::allow || contains(request.scopes, wanted.scope);
}

/// Whether permissions of the agent to call the tool end with that change of an extension: the agent or the tool was
/// deleted, or the name of the tool was given up or taken.
bool end_with(const DomainEvent& event, const Extension& extension, std::string_view agent_id, std::string_view tool) {
  if (!event.former_name.empty() && is_tool_of(std::string(event.former_name), tool)) return true;
  if (event.name == "extension.updated" && event.former_name.empty()) return false;
  if (event.name == "extension.deleted" && agent_id == extension.id) return true;
  return is_tool_of(extension.name, tool);
}

PermissionRequest decided_by_person(PermissionRequest request, DecidePermission wanted, Timestamp now) {
  request.decision = wanted.answer ? PermissionDecision::answer : *wanted.decision;
  request.scope = request.decision == PermissionDecision::allow ? wanted.scope : GrantScope::once;
  request.by = DecidedBy::person;
  request.decision_reason = std::move(wanted.reason);
  request.answer = std::move(wanted.answer);
  request.decided_at = now;
  return request;
}

}  // namespace

/// One request. Its run waits for `changed`.
struct Approvals::Waiting {
  Waiting(Loop& loop, PermissionRequest asked, ActiveRunPointer asking)
      : request(std::move(asked)), run(std::move(asking)), changed(loop) {}

  PermissionRequest request;
  ActiveRunPointer run;
  AsyncEvent changed;
  bool is_stored = false;
  bool is_being_decided = false;  ///< a decision is being stored
  bool may_be_granted = true;     ///< false: its agent or tool was deleted or replaced since

  /// From now on, a person can allow only this call.
  void allow_only_once() {
    may_be_granted = false;
    request.pattern.reset();
    if (!request.question) request.scopes = {GrantScope::once};
  }

  /// Between two steps, a request waits, is being decided, or is decided with all that belongs to a decision.
  void assert_invariants() const {
    AGW_ASSERT(!is_being_decided || !request.decision);
    AGW_ASSERT(request.scope.has_value() == request.decision.has_value());
    AGW_ASSERT(request.by.has_value() == request.decision.has_value());
    AGW_ASSERT(request.decided_at.has_value() == request.decision.has_value());
    AGW_ASSERT(request.decision == PermissionDecision::allow ||
               request.scope.value_or(GrantScope::once) == GrantScope::once);
  }
};

Approvals::Approvals(Loop& loop, Database& database, Hub& hub, const Clock& clock, Runs& runs, Threads& threads,
                     Options options)
    : loop_(loop),
      database_(database),
      hub_(hub),
      clock_(clock),
      runs_(runs),
      options_(options),
      background_(loop),
      listening_(hub, *this) {
  threads.at_remove(
      [this](const std::string& id) { forget_where([&id](const Grant& grant) { return grant.thread_id == id; }); });
}

Approvals::~Approvals() = default;

void Approvals::load(Connection& connection) {
  AGW_ASSERT(waiting_.empty());
  AGW_ASSERT(grants_.empty());
  write_at_start(connection, "ending the remaining permission requests",
                 [&] { end_interrupted(connection, clock_.now()); });
  grants_ = approval_store::grants(connection);
  if (grants_.empty()) return;
  auto ids = approval_store::outlived(connection, grants_);
  if (ids.empty()) return;
  std::erase_if(grants_, [&](const Grant& grant) { return contains(ids, grant.id); });
  const bool deleted = write_at_start(connection, "deleting grants that have ended", [&] {
    for (const auto& id : ids) approval_store::remove_grant(connection, id);
  });
  if (!deleted) ended_ = std::move(ids);
}

void Approvals::end_interrupted(Connection& connection, Timestamp now) {
  approval_store::end_interrupted(connection, now);
}

Task<> Approvals::refresh() {
  grants_ = co_await database_.write(approval_store::grants);
  std::erase_if(grants_, [this](const Grant& grant) { return contains(ended_, grant.id); });
}

Task<> Approvals::stop() {
  stopping_.request();
  co_await background_.join();
}

bool Approvals::asks(const Extension& agent) const {
  return options_.asks && string_member(agent.definition.members(), "approvals") != "never";
}

bool Approvals::is_full(const ActiveRun& run) const {
  const auto of_run = std::ranges::count_if(waiting_, [&](const auto& one) { return one->run.get() == &run; });
  return waiting_.size() >= max_waiting || run.refusals + static_cast<std::size_t>(of_run) >= max_of_run;
}

Approvals::WaitingPointer Approvals::find(std::string_view id) const {
  const auto found = std::ranges::find_if(waiting_, [id](const auto& one) { return one->request.id == id; });
  return found == waiting_.end() ? nullptr : *found;
}

Approvals::WaitingPointer Approvals::open(AskedCall call) {
  AGW_ASSERT(call.run);
  AGW_ASSERT(call.run->takes_requests);
  AGW_ASSERT(waiting_.size() < max_waiting);
  const bool is_question = call.kind == PermissionKind::question;
  AGW_ASSERT(call.question.has_value() == is_question);
  // A question grants nothing.
  AGW_ASSERT(!is_question || !call.pattern);
  AGW_ASSERT(!is_question || !call.can_propose);
  const auto now = clock_.now();
  PermissionRequest request{.id = new_id(),
                            .kind = call.kind,
                            .run_id = call.run->run.id,
                            .thread_id = call.run->run.thread_id,
                            .agent_id = std::move(call.agent_id),
                            .agent = std::move(call.agent),
                            .tool = std::move(call.tool),
                            .input = std::move(call.input),
                            .target = std::move(call.target),
                            .reason = std::move(call.reason),
                            .created_at = now,
                            .expires_at = now + options_.patience,
                            .can_propose = call.can_propose,
                            .pattern = std::move(call.pattern),
                            .question = std::move(call.question)};
  if (!call.diff.empty()) request.diff = std::move(call.diff);
  if (!request.question) request.scopes = {GrantScope::once};
  if (request.pattern) request.scopes = {GrantScope::once, GrantScope::thread, GrantScope::agent};
  return waiting_.emplace_back(std::make_shared<Waiting>(loop_, std::move(request), std::move(call.run)));
}

Task<std::optional<PermissionRequest>> Approvals::ask(AskedCall call, StopSource& stop) {
  if (!call.run->takes_requests || is_full(*call.run) || shown_size(call) > max_shown_size) co_return std::nullopt;
  const auto waiting = open(std::move(call));
  std::exception_ptr failure;
  try {
    co_await database_.write(
        [request = waiting->request, oldest = clock_.now() - options_.kept](Connection& connection) {
          approval_store::purge(connection, oldest);
          approval_store::put(connection, request);
        });
    // Its run may have started to end in the meantime.
    if (!waiting->is_being_decided && !waiting->request.decision) {
      waiting->is_stored = true;
      runs_.emit(*waiting->run, "permission-requested", {{"request", RecordView(waiting->request).members()}});
    }
    const WaitClock::Wait clock(waiting->run->person_waits);
    co_await wait(waiting, stop);
  } catch (...) {
    failure = std::current_exception();
  }
  std::erase(waiting_, waiting);
  if (failure) std::rethrow_exception(failure);
  AGW_ASSERT(waiting->request.decision);
  waiting->assert_invariants();
  co_return waiting->request;
}

/// Returns once the request is decided.
Task<> Approvals::wait(const WaitingPointer& waiting, StopSource& stop) {
  const auto until_decided = [](WaitingPointer one) -> Task<> {
    // A decision that could not be stored pulses the event.
    while (!one->request.decision) co_await one->changed.wait();
  };
  const auto end = co_await with_timeout(stop, options_.patience, until_decided(waiting));
  waiting->assert_invariants();
  // An earlier decision counts, even if it is not stored yet.
  while (waiting->is_being_decided) co_await waiting->changed.wait();
  if (waiting->request.decision) co_return;
  co_await end_undecided(waiting, end == WaitResult::timed_out ? DecidedBy::timeout : DecidedBy::stop);
}

Task<> Approvals::end_undecided(WaitingPointer waiting, DecidedBy by) {
  AGW_ASSERT(by != DecidedBy::person);
  AGW_ASSERT(!waiting->is_being_decided);
  AGW_ASSERT(!waiting->request.decision);
  waiting->is_being_decided = true;
  auto decided = waiting->request;
  decided.decision = PermissionDecision::deny;
  decided.scope = GrantScope::once;
  decided.by = by;
  decided.decided_at = clock_.now();
  try {
    co_await database_.write([decided](Connection& connection) { approval_store::put(connection, decided); });
  } catch (const std::exception& error) {
    log::warn("the end of a permission request could not be stored: {}", error.what());
  }
  record_decision(waiting, std::move(decided));
}

Task<> Approvals::end_those_of(ActiveRunPointer run) {
  run->takes_requests = false;
  std::vector<WaitingPointer> left;
  std::ranges::copy_if(waiting_, std::back_inserter(left), [&](const auto& waiting) { return waiting->run == run; });
  for (const auto& waiting : left) {
    while (waiting->is_being_decided) co_await waiting->changed.wait();
    if (!waiting->request.decision) co_await end_undecided(waiting, DecidedBy::stop);
  }
  AGW_DEBUG_ASSERT(std::ranges::none_of(waiting_, [&](const auto& waiting) { return waiting->run == run; }));
}

void Approvals::record_decision(const WaitingPointer& waiting, PermissionRequest decided) {
  AGW_ASSERT(waiting->is_being_decided);
  AGW_ASSERT(!waiting->request.decision);
  AGW_ASSERT(decided.decision);
  AGW_ASSERT(decided.id == waiting->request.id);
  AGW_ASSERT(decided.run_id == waiting->run->run.id);
  waiting->request = std::move(decided);
  const auto decision = *waiting->request.decision;
  if (decision == PermissionDecision::deny || decision == PermissionDecision::propose) ++waiting->run->refusals;
  std::erase(waiting_, waiting);
  publish_decision(*waiting);
  waiting->is_being_decided = false;
  waiting->assert_invariants();
  waiting->changed.notify();
}

void Approvals::publish_decision(const Waiting& waiting) {
  auto& run = *waiting.run;
  if (!waiting.is_stored || run.is_ending || run.ended.happened()) return;
  const auto& request = waiting.request;
  runs_.emit(run, "permission-decided",
             {{"requestId", request.id},
              {"decision", to_text(*request.decision)},
              {"scope", to_text(*request.scope)},
              {"by", to_text(*request.by)}});
}

std::vector<PermissionRequest> Approvals::waiting(const PermissionFilter& filter) const {
  std::vector<PermissionRequest> found;
  for (const auto& one : waiting_) {
    if (!one->is_stored || one->is_being_decided) continue;
    if (!filter.thread_id || one->request.thread_id == *filter.thread_id) found.push_back(one->request);
  }
  return found;
}

Task<std::vector<PermissionRequest>> Approvals::list(PermissionFilter filter) {
  if (!options_.is_node) co_return waiting(filter);
  auto found = co_await database_.read(approval_store::waiting_elsewhere);
  if (filter.thread_id) std::erase_if(found, [&](const auto& one) { return one.thread_id != *filter.thread_id; });
  std::ranges::move(waiting(filter), std::back_inserter(found));
  std::ranges::sort(found, {}, &PermissionRequest::created_at);
  co_return found;
}

Task<> Approvals::require(std::string id) {
  const auto waiting = find(id);
  if (waiting && waiting->is_stored) co_return;
  const bool is_known =
      co_await database_.read([id](Connection& connection) { return approval_store::exists(connection, id); });
  if (!is_known) throw NotFound("permission request not found");
}

Task<PermissionRequest> Approvals::decide(std::string id, DecidePermission wanted,
                                          InTransaction<PermissionRequest> in_transaction) {
  auto waiting = find(id);
  if (waiting && !waiting->is_stored) waiting = nullptr;
  if (!waiting) co_await require(id);
  const bool is_question = waiting && waiting->request.question;
  if (!is_question && !wanted.decision && !wanted.answer) throw BadRequest("decision is required");
  if (!waiting || waiting->is_being_decided || waiting->request.decision) throw already_decided();
  if (!is_possible(waiting->request, wanted)) throw not_possible();
  auto decided = decided_by_person(waiting->request, std::move(wanted), clock_.now());
  const auto grant = grant_of(decided);
  waiting->is_being_decided = true;
  try {
    co_await database_.write([decided, grant, in_transaction = std::move(in_transaction)](Connection& connection) {
      approval_store::put(connection, decided);
      if (grant) approval_store::insert(connection, *grant);
      if (in_transaction) in_transaction(connection, decided);
    });
  } catch (...) {
    waiting->is_being_decided = false;
    waiting->changed.pulse();
    throw;
  }
  if (grant && waiting->may_be_granted)
    grants_.push_back(*grant);
  else if (grant)
    forget({grant->id});
  record_decision(waiting, decided);
  co_return decided;
}

/// Returns the grant to store; nullopt if the decision grants nothing, or nothing new.
std::optional<Grant> Approvals::grant_of(const PermissionRequest& request) const {
  AGW_ASSERT(request.decision);
  AGW_ASSERT(request.scope);
  if (request.decision != PermissionDecision::allow || request.scope == GrantScope::once) return std::nullopt;
  // Only a request with a pattern offers these scopes.
  AGW_ASSERT(request.pattern);
  Grant grant{.id = new_id(),
              .agent_id = request.agent_id,
              .tool = request.tool,
              .pattern = *request.pattern,
              .scope = *request.scope,
              .created_at = clock_.now()};
  if (grant.scope == GrantScope::thread) grant.thread_id = request.thread_id;
  const bool is_known = std::ranges::any_of(grants_, [&](const Grant& known) {
    return known.agent_id == grant.agent_id && known.thread_id == grant.thread_id && known.tool == grant.tool &&
           known.pattern == grant.pattern;
  });
  if (is_known) return std::nullopt;
  if (grants_of(grant.agent_id).size() >= max_grants_of_agent) throw not_possible();
  return grant;
}

GrantedPatterns Approvals::grants_for(std::string_view agent_id, std::string_view thread_id) const {
  std::vector<GrantedPattern> found;
  for (const auto& grant : grants_) {
    if (grant.agent_id != agent_id || (grant.thread_id && *grant.thread_id != thread_id)) continue;
    found.push_back({grant.tool, grant.pattern});
  }
  if (found.empty()) return nullptr;
  return std::make_shared<const std::vector<GrantedPattern>>(std::move(found));
}

std::vector<Grant> Approvals::grants_of(std::string_view agent_id) const {
  std::vector<Grant> found;
  for (const auto& grant : grants_) {
    if (grant.agent_id == agent_id) found.push_back(grant);
  }
  return found;
}

Task<> Approvals::revoke(std::string agent_id, std::string id) {
  const auto is_wanted = [&](const Grant& grant) { return grant.agent_id == agent_id && grant.id == id; };
  if (std::ranges::none_of(grants_, is_wanted)) throw grant_not_found();
  const bool is_removed =
      co_await database_.write([id](Connection& connection) { return approval_store::remove_grant(connection, id); });
  std::erase_if(grants_, is_wanted);
  if (!is_removed) throw grant_not_found();
}

void Approvals::forget_where(const std::function<bool(const Grant&)>& condition) {
  std::vector<std::string> ids;
  for (const auto& grant : grants_) {
    if (condition(grant)) ids.push_back(grant.id);
  }
  if (ids.empty()) return;
  std::erase_if(grants_, condition);
  forget(std::move(ids));
}

/// Deletes grants that are no longer in memory.
void Approvals::forget(std::vector<std::string> ids) {
  std::ranges::move(ids, std::back_inserter(ended_));
  if (!std::exchange(is_deleting_, true)) background_.spawn(delete_ended());
}

/// Tries again until it succeeds: otherwise, the grants would be back after a restart.
Task<> Approvals::delete_ended() {
  bool has_failed = false;
  while (!ended_.empty()) {
    bool fails = false;
    try {
      const auto ids = ended_;
      co_await database_.write([ids](Connection& connection) {
        for (const auto& id : ids) approval_store::remove_grant(connection, id);
      });
      std::erase_if(ended_, [&](const auto& id) { return contains(ids, id); });
    } catch (const std::exception& error) {
      fails = true;
      if (!std::exchange(has_failed, true))
        log::warn("grants that have ended cannot be deleted from the database, trying again: {}", error.what());
    }
    if (fails && co_await pause(stopping_, options_.retry_after) != WaitResult::done) break;
  }
  is_deleting_ = false;
}

/// A grant ends with its thread, agent or tool. A later tool with the same name must not inherit it, also if the former
/// was only renamed.
void Approvals::deliver(const DomainEvent& event) {
  if (grants_.empty() && waiting_.empty()) return;
  if (const auto* thread = event.record.as<Thread>()) {
    if (!thread->archived) return;
    forget_where([thread](const Grant& grant) { return grant.thread_id == thread->id; });
  } else if (const auto* extension = event.record.as<Extension>()) {
    const auto ends = [&](const auto& one) { return end_with(event, *extension, one.agent_id, one.tool); };
    for (const auto& waiting : waiting_) {
      if (ends(waiting->request)) waiting->allow_only_once();
    }
    forget_where(ends);
  }
}

Approvals::Options approval_options(const Settings& settings) {
  const std::chrono::duration<double, std::ratio<60>> patience(settings.approvals.timeout_minutes);
  return {.asks = settings.approvals.mode == ApprovalsMode::ask,
          .is_node = !settings.cluster.node.empty(),
          .patience = std::chrono::ceil<std::chrono::milliseconds>(patience),
          .kept = std::chrono::days(settings.retention.days)};
}

}  // namespace agw
