// How a decision is carried out completely or not at all. docs/design/proposals-and-research.md.
//
// A decision changes things that no transaction can combine: the *mark* in the proposal's file, the *target* (a file of
// a person, or a record with its directory), and the experiments. The *note* (a row of proposal_outbox) contains
// everything needed to repeat the decision: the content, the id of the experiment and the time.
//
// The invariant: while a note exists, the decision is in progress. Once it is deleted, either everything was done and
// the experiment records it, or the proposal is pending again.
//
//   note    the row, in one transaction with the response for the request's `Idempotency-Key`
//   mark status and time in the proposal's file; skipped if the file has both
//   record  if the target is an extension: its record; a repetition finds no difference to change
//   write the target's file, replaced atomically; skipped if the record was changed again in the meantime
//   resync records are updated from the files in the data directory
//   finish stores the experiment and deletes the note, in one transaction
//
// `Deciding` allows one decision at a time on a proposal. Others are refused with a conflict.
//
// After a failure before `finish`, such as a target that is not writable, the decision is undone: the mark, the note
// and the stored response are removed, and the proposal is pending again. Content that was written to the target stays;
// applying the proposal again is then a no-op. If undoing fails too, or `finish` fails, `Deciding` blocks the proposal
// until the next start.
//
// A kill
//   - before `note` is committed: nothing has changed.
//   - after it: the next start repeats every step in order; each detects whether it was done. A proposal file that was
//     deleted in the meantime does not prevent the other steps. If the decision fails then, it is undone as above.
// Why every step may be repeated: `mark` compares status and time, `record` finds no difference, `write` and `resync`
// produce the same files, and `finish` deletes the note in the transaction that stores the experiment, so each note
// yields one experiment. crash_test.cpp kills a process before each step.

#include <system_error>

#include "api/error.hpp"
#include "api/idempotency_store.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "features/experiments/service.hpp"
#include "features/proposals/files.hpp"
#include "features/proposals/proposed_extension.hpp"
#include "features/proposals/service.hpp"
#include "features/proposals/store.hpp"
#include "features/proposals/targets.hpp"
#include "io/files/disk_full.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

Conflict decided_already(ProposalStatus status) { return Conflict("proposal already " + std::string(to_text(status))); }

Experiment experiment_of(const ProposalDecision& decision) {
  AGW_ASSERT(decision.status != ProposalStatus::pending);
  AGW_ASSERT(!decision.experiment_id.empty());
  return {.id = decision.experiment_id,
          .domain = "agent:" + decision.address.agent,
          .verdict = decision.status == ProposalStatus::applied ? Verdict::keep : Verdict::discard,
          .proposal = decision.address.text(),
          .reason = decision.reason,
          .notes = decision.title,
          .created_at = decision.decided_at};
}

ProposalDecided decided_by(const ProposalDecision& decision) {
  return {.status = decision.status, .proposal = decision.address.text(), .experiment_id = decision.experiment_id};
}

bool is_marked(const ProposalFile& file, const ProposalDecision& decision) {
  return file.head.status == decision.status && file.head.decided_at == decision.decided_at;
}

/// Writes the decision to the file. Throws if it cannot.
void mark_file(ProposalFiles& files, const ProposalDecision& decision) {
  AGW_ASSERT(decision.status != ProposalStatus::pending);
  files.change(decision.address, [&](const ProposalFile* file) -> std::optional<std::string> {
    if (!file) throw proposal_not_found();
    if (is_marked(*file, decision)) return std::nullopt;
    if (file->head.status != ProposalStatus::pending) throw decided_already(file->head.status);
    if (!file->head.problem.empty()) throw std::runtime_error(file->head.problem);
    if (file->unread) throw std::runtime_error(std::string(to_string(*file->unread)));
    auto text = file->text;
    // A file that a person wrote has no `created_at`, so its modification time counts, which this write would change.
    if (!file->head.created_at) text.head["created_at"] = to_iso8601(file->created_at);
    text.head["status"] = to_text(decision.status);
    text.head["decided_at"] = to_iso8601(decision.decided_at);
    return write_proposal_text(text);
  });
}

/// Reverts `mark_file`.
void unmark_file(ProposalFiles& files, const ProposalDecision& decision) {
  AGW_ASSERT(decision.status != ProposalStatus::pending);
  if (const auto file = files.read(decision.address); !file || !is_marked(*file, decision)) return;
  files.change(decision.address, [&](const ProposalFile* file) -> std::optional<std::string> {
    if (!file || !is_marked(*file, decision)) return std::nullopt;
    auto text = file->text;
    text.head["status"] = to_text(ProposalStatus::pending);
    text.head.erase("decided_at");
    return write_proposal_text(text);
  });
}

/// Whether `record` is still the current version of the target.
bool is_current(const Extensions& extensions, const TargetExtension& target, const Extension& record) {
  const auto current = record_of_target(extensions, target);
  return current && current->id == record.id && current->updated_at == record.updated_at;
}

bool is_refused(const std::error_code& code) {
  return code == std::errc::permission_denied || code == std::errc::operation_not_permitted ||
         code == std::errc::read_only_file_system;
}

/// Logs why the proposal could not be marked. The client learns only that.
BadRequest not_rejected(const ProposalAddress& address, const std::exception& error) {
  log::warn("proposal {} cannot be marked: {}", address.text(), error.what());
  return BadRequest("failed to reject proposal");
}

}  // namespace

/// Prevents concurrent decisions on the same proposal, which must be known to be pending. If a decision can be neither
/// finished nor undone, the proposal stays blocked until the next start.
class Proposals::Deciding {
public:
  Deciding(Proposals& proposals, const ProposalDecision& decision) : proposals_(proposals), address_(decision.address) {
    AGW_ASSERT(decision.status != ProposalStatus::pending);
    const auto [place, is_new] = proposals_.deciding_.emplace(address_, decision.status);
    if (!is_new) throw decided_already(place->second);
  }
  ~Deciding() {
    AGW_ASSERT(proposals_.deciding_.contains(address_));
    if (!stays_) proposals_.deciding_.erase(address_);
    ++proposals_.ended_;
  }
  Deciding(const Deciding&) = delete;
  Deciding& operator=(const Deciding&) = delete;
  void stay(bool stays) {
    AGW_ASSERT(stays_ != stays);
    stays_ = stays;
  }

private:
  Proposals& proposals_;
  ProposalAddress address_;
  bool stays_ = false;
};

void Proposals::load(Connection& connection) {
  AGW_ASSERT(interrupted_.empty());
  interrupted_ = proposal_store::all(connection);
}

Task<> Proposals::recover() {
  AGW_ASSERT(deciding_.empty());
  AGW_ASSERT(recovered_.empty());
  for (const auto& decision : std::exchange(interrupted_, {})) {
    std::string failure;
    try {
      co_await carry_out(decision, Attempt::again);
      co_await record(decision);
      recovered_.push_back(decision.address);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (failure.empty()) continue;
    log::error("proposal {} could not be {} after a crash and is pending again: {}", decision.address.text(),
               to_text(decision.status), failure);
    co_await undo(decision);
  }
}

void Proposals::deliver(const DomainEvent& event) {
  if (event.name == "gateway.started" && !recovered_.empty()) background_.spawn(announce_recovered());
}

Task<> Proposals::announce_recovered() {
  for (auto& address : std::exchange(recovered_, {})) co_await announce("proposal-decided", std::move(address));
}

Task<ProposalDecided> Proposals::apply(ProposalAddress address, ApplyProposal wanted,
                                       InTransaction<ProposalDecided> in_transaction) {
  const auto ended = ended_;
  const auto file = co_await require_readable(address);
  if (!file->head.problem.empty()) fail_validation({{"head", file->head.problem}});
  if (!file->head.target) fail_validation({{"target", "target is required"}});
  const auto place = co_await find_place(*file->head.target);
  if (!place) throw path_outside_home();
  if (file->head.status != ProposalStatus::pending) throw decided_already(file->head.status);
  const ProposalDecision decision{.address = address,
                                  .status = ProposalStatus::applied,
                                  .target = file->head.target,
                                  .content = wanted.content ? wanted.content : file->text.content,
                                  .reason = file->head.reason,
                                  .title = file->head.title,
                                  .experiment_id = new_id(),
                                  .decided_at = clock_.now()};
  co_await disk_.run([&] { check_proposed(file->head.type, *place, *decision.content); });
  co_return co_await decide(decision, ended, std::move(in_transaction));
}

Task<ProposalDecided> Proposals::reject(ProposalAddress address, RejectProposal wanted,
                                        InTransaction<ProposalDecided> in_transaction) {
  const auto ended = ended_;
  const auto file = co_await require_file(address);
  if (file->head.status != ProposalStatus::pending) throw decided_already(file->head.status);
  const ProposalDecision decision{.address = address,
                                  .status = ProposalStatus::rejected,
                                  .reason = wanted.reason,
                                  .title = file->head.title,
                                  .experiment_id = new_id(),
                                  .decided_at = clock_.now()};
  try {
    co_return co_await decide(decision, ended, std::move(in_transaction));
  } catch (const ApiError&) {
    throw;
  } catch (const DatabaseError&) {
    throw;
  } catch (const std::system_error& error) {
    if (is_disk_full(error.code())) throw;
    throw not_rejected(address, error);
  } catch (const std::exception& error) {
    throw not_rejected(address, error);
  }
}

Task<ProposalDecided> Proposals::decide(ProposalDecision decision, std::uint64_t ended,
                                        InTransaction<ProposalDecided> in_transaction) {
  AGW_ASSERT(interrupted_.empty());
  // A decision that has ended since the file was read may have been on this proposal.
  while (std::exchange(ended, ended_) != ended_) {
    const auto file = co_await require_file(decision.address);
    if (file->head.status != ProposalStatus::pending) throw decided_already(file->head.status);
  }
  Deciding deciding(*this, decision);
  const bool is_news = co_await disk_.run([files = files_, decision] { return files->expect(decision.address); });
  if (is_news) co_await announce("proposal-created", decision.address);
  step("note");
  // Stores the response as well: after a kill, a start finishes the decision, and a repeated request gets this
  // response.
  co_await database_.write([decision, in_transaction](Connection& connection) {
    proposal_store::insert(connection, decision);
    if (in_transaction) in_transaction(connection, decided_by(decision));
  });
  deciding.stay(true);
  AGW_ASSERT(deciding_.contains(decision.address));
  std::exception_ptr failure;
  try {
    co_await carry_out(decision, Attempt::first);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    if (co_await undo(decision)) deciding.stay(false);
    std::rethrow_exception(failure);
  }
  auto decided = co_await record(decision);
  deciding.stay(false);
  co_await announce("proposal-decided", decision.address);
  co_return decided;
}

Task<> Proposals::carry_out(const ProposalDecision& decision, Attempt attempt) {
  AGW_ASSERT((attempt == Attempt::first) == deciding_.contains(decision.address));
  step("mark");
  co_await disk_.run([files = files_, decision, attempt] {
    // If the file was deleted after the decision, the other steps are still necessary.
    if (attempt == Attempt::first || files->has(decision.address)) mark_file(*files, decision);
  });
  if (decision.status != ProposalStatus::applied) co_return;
  try {
    co_await change_target(decision);
  } catch (const std::system_error& error) {
    if (!is_refused(error.code())) throw;
    log::warn("proposal {} cannot be applied: {}", decision.address.text(), error.what());
    throw permission_denied();
  }
}

Task<> Proposals::change_target(const ProposalDecision& decision) {
  AGW_CHECK(decision.status == ProposalStatus::applied && decision.target && decision.content,
            "an applied proposal has no target or no content");
  // Resolved again, because symlinks may have changed.
  const auto place = co_await find_place(*decision.target);
  if (!place) throw path_outside_home();
  step("record");
  const auto extension = extension_of_target(*place);
  ExtensionPointer record;
  if (extension) {
    co_await disk_.run([place] { check_target(*place); });
    const auto agent = co_await proposer(decision.address);
    record = co_await apply_to_extension(extensions_, *extension, *decision.content, agent);
  }
  step("write");
  // If the record was changed, renamed or deleted in between, its directory already has the newer version.
  if (!record || is_current(extensions_, *extension, *record)) {
    co_await (record ? extensions_.disk() : disk_).run([place, content = *decision.content] {
      write_target(*place, content);
    });
  }
  step("resync");
  // The directory now holds the text that the person approved, including comments. Reseeding also updates its other
  // files, such as a job's prompt, from the record.
  if (!place->in_data_directory) co_return;
  for (const auto& warning : co_await extensions_.reseed()) log::warn("after a proposal was applied: {}", warning);
}

/// The id of the agent that made the proposal; if unknown, the name in its address.
Task<std::string> Proposals::proposer(ProposalAddress address) {
  const auto file = co_await disk_.run([files = files_, address] { return files->read(address); });
  co_return file ? file->head.agent_id.value_or(address.agent) : address.agent;
}

Task<bool> Proposals::undo(const ProposalDecision& decision) {
  AGW_ASSERT(decision.status != ProposalStatus::pending);
  try {
    co_await disk_.run([files = files_, decision] { unmark_file(*files, decision); });
    co_await database_.write([decision](Connection& connection) {
      proposal_store::remove(connection, decision.address);
      // Otherwise a repeated request with the same key would get the response of a decision.
      idempotency_store::remove(connection, to_json(decided_by(decision)));
    });
    co_return true;
  } catch (const std::exception& error) {
    log::error("proposal {} stays half decided until the next start, which finishes it: {}", decision.address.text(),
               error.what());
  }
  co_return false;
}

Task<ProposalDecided> Proposals::record(const ProposalDecision& decision) {
  step("finish");
  co_await database_.write([decision](Connection& connection) {
    Experiments::record(connection, experiment_of(decision));
    proposal_store::remove(connection, decision.address);
  });
  co_return decided_by(decision);
}

void Proposals::step(std::string_view name) const {
  if (options_.before_step) options_.before_step(name);
}

}  // namespace agw
