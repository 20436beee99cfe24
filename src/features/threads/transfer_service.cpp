#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/projects/service.hpp"
#include "features/threads/search_indexer.hpp"
#include "features/threads/service.hpp"
#include "features/threads/shared_transcript.hpp"
#include "features/threads/transfer_store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

using transfer_store::CheckedImport;
using transfer_store::PreparedImport;
using transfer_store::PreparedImportTurn;

constexpr std::size_t max_source_length = 64;
constexpr std::size_t max_key_length = 512;
constexpr std::size_t max_imported_threads = 1000;
constexpr std::size_t max_imported_turns = 5000;

void check_key(const std::string& key, const std::string& path, bool is_own) {
  if (key.empty() || key.size() > max_key_length) throw BadRequest(path + " must have 1 to 512 bytes");
  const bool is_lower = std::ranges::none_of(key, is_upper);
  if (is_own && (!is_uuid(key) || !is_lower)) throw BadRequest(path + " must be an id of this program");
}

void check(const ImportBatch& batch) {
  if (batch.source.empty() || batch.source.size() > max_source_length)
    throw BadRequest("source must have 1 to 64 bytes");
  if (batch.threads.size() > max_imported_threads) throw BadRequest("threads must be at most 1000");
  std::size_t turns = 0;
  const bool is_own = batch.source == own_source;
  for (std::size_t i = 0; i < batch.threads.size(); ++i) {
    const auto& thread = batch.threads[i];
    const auto path = "threads[" + std::to_string(i) + "].";
    check_key(thread.key, path + "key", is_own);
    if (thread.tasks && (thread.tasks->size() > max_tasks || size_of(*thread.tasks) > max_task_bytes))
      throw BadRequest(path + "tasks must be at most 100, with 16 KiB of text");
    for (std::size_t k = 0; k < thread.turns.size(); ++k) {
      check_key(thread.turns[k].key, path + "turns[" + std::to_string(k) + "].key", is_own);
    }
    turns += thread.turns.size();
  }
  if (turns > max_imported_turns) throw BadRequest("turns must be at most 5000 together");
}

/// Removes `superseded` from the metadata and returns its value, which is stored as a column.
bool take_superseded(std::optional<json::object>& metadata) {
  if (!metadata) return false;
  const bool superseded = is_true(*metadata, "superseded");
  if (superseded) metadata->erase("superseded");
  if (superseded && metadata->empty()) metadata.reset();
  return superseded;
}

PreparedImportTurn prepared_turn(ImportedTurn turn, bool is_own, const std::string& thread_id, Timestamp before,
                                 Timestamp now) {
  const auto id_of = [&](const std::string& key) { return is_own ? key : id_of_key(thread_id, key); };
  PreparedImportTurn prepared{.id = id_of(turn.key), .role = turn.role, .content = std::move(turn.content)};
  prepared.superseded = take_superseded(turn.metadata);
  if (turn.metadata) prepared.metadata = to_json(json::value(std::move(*turn.metadata)));
  prepared.created_at = std::min(turn.created_at.value_or(before), now);
  if (turn.in_reply_to) prepared.in_reply_to = id_of(*turn.in_reply_to);
  return prepared;
}

/// The time of the first turn that has one, else `otherwise`.
Timestamp first_time(const ImportedThread& thread, Timestamp otherwise) {
  for (const auto& turn : thread.turns) {
    if (turn.created_at) return *turn.created_at;
  }
  return otherwise;
}

Timestamp last_time(const ImportedThread& thread, Timestamp otherwise) {
  auto last = otherwise;
  for (const auto& turn : thread.turns) last = std::max(last, turn.created_at.value_or(last));
  return last;
}

CheckedImport checked_thread(ImportedThread thread, const std::string& source, Timestamp now) {
  const bool is_own = source == own_source;
  CheckedImport checked{.id = is_own ? thread.key : id_of_key(source, thread.key),
                        .wanted = {},
                        .created_at = std::min(thread.created_at.value_or(first_time(thread, now)), now),
                        .updated_at = {},
                        .turns = {}};
  checked.updated_at = std::min(thread.updated_at.value_or(last_time(thread, checked.created_at)), now);
  auto before = checked.created_at;
  for (auto& turn : std::exchange(thread.turns, {})) {
    checked.turns.push_back(prepared_turn(std::move(turn), is_own, checked.id, before, now));
    before = checked.turns.back().created_at;
  }
  checked.wanted = std::move(thread);
  return checked;
}

}  // namespace

std::vector<CheckedImport> transfer_store::check_import(ImportBatch batch, Timestamp now) {
  check(batch);
  std::vector<CheckedImport> checked;
  for (auto& thread : batch.threads) checked.push_back(checked_thread(std::move(thread), batch.source, now));
  return checked;
}

Task<std::string> Threads::transcript_text(std::string thread_id, TranscriptQuery query, FilledSecrets hidden) {
  co_return co_await database_.read([thread_id, query, hidden = std::move(hidden)](Connection& connection) {
    auto transcript = transfer_store::read(connection, thread_id, query);
    if (query.shared) transcript = for_others(std::move(transcript), hidden);
    std::string text;
    write_json(text, transcript);
    return text;
  });
}

PreparedImport Threads::prepare_import(CheckedImport checked) {
  auto& thread = checked.wanted;
  const auto job = thread.job_id ? extensions_.find(ExtensionType::job, *thread.job_id) : nullptr;
  auto made = prepare(NewThread{.agent_id = std::move(thread.agent_id),
                                .title = std::move(thread.title),
                                .project_id = std::move(thread.project_id),
                                .job_id = job ? std::optional(job->id) : std::nullopt,
                                .mode = thread.mode},
                      checked.id);
  made->thread.archived = thread.archived;
  made->thread.pinned = thread.pinned;
  made->thread.created_at = checked.created_at;
  made->moment = std::chrono::microseconds{checked.updated_at.time_since_epoch()}.count();
  AGW_ASSERT(made->thread.id == checked.id);
  return {.key = std::move(thread.key),
          .thread = std::move(*made),
          .tasks = std::move(thread.tasks),
          .turns = std::move(checked.turns)};
}

Task<ImportResult> Threads::import(std::vector<CheckedImport> threads) {
  auto prepared = std::make_shared<std::vector<PreparedImport>>();
  for (auto& thread : threads) prepared->push_back(prepare_import(std::move(thread)));
  const auto written = co_await database_.write(
      [prepared](Connection& connection) {
        std::vector<transfer_store::Written> made;
        for (const auto& thread : *prepared) made.push_back(transfer_store::write(connection, thread));
        return made;
      },
      Database::Lane::background);
  AGW_ASSERT(written.size() == prepared->size());
  ImportResult result;
  for (const auto& [outcome, thread] : written) {
    result.threads.push_back(outcome);
    // Published without a name, so that an imported thread starts no job.
    if (outcome.created || outcome.turns_created) publish(thread);
  }
  indexer_->wake();
  co_return result;
}

}  // namespace agw
