#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "features/threads/thread_store.hpp"
#include "features/threads/transfer_types.hpp"
#include "storage/connection.hpp"

/// The SQL of exports and imports.
namespace agw::transfer_store {

/// A page of the thread's turns, oldest first: at most `limit`, fewer if they are large, but at least one if any are
/// left. Throws NotFound `thread not found`, BadRequest `after must be a turn of this thread`.
Transcript read(Connection& connection, const std::string& thread_id, const TranscriptQuery& query);

/// An imported turn with the values that are computed before its write.
struct PreparedImportTurn {
  std::string id;
  Role role{};
  std::string content;
  std::optional<std::string> metadata;  ///< as JSON
  bool superseded = false;
  Timestamp created_at;
  std::optional<std::string> in_reply_to;  ///< an id
};

/// A thread to import whose members are checked. Its turns, which may be thousands, are prepared.
struct CheckedImport {
  std::string id;
  ImportedThread wanted;  ///< without its turns
  Timestamp created_at;
  Timestamp updated_at;
  std::vector<PreparedImportTurn> turns;
};

/// An imported thread with the values that are computed before its write.
struct PreparedImport {
  std::string key;
  thread_store::PreparedThread thread;
  std::optional<std::vector<ThreadTask>> tasks;
  std::vector<PreparedImportTurn> turns;
};

/// Prepares a batch for Threads::import. Its time grows with its turns, so call it on another thread than the loop.
/// Throws BadRequest for an invalid key or too many threads or turns.
std::vector<CheckedImport> check_import(ImportBatch batch, Timestamp now);

/// The result of one import.
struct Written {
  ImportOutcome outcome;
  Thread thread;
};

/// Creates the thread with its tasks unless its id exists, and appends the missing turns. Throws Conflict if a turn's
/// id belongs to another thread.
Written write(Connection& connection, const PreparedImport& prepared);

}  // namespace agw::transfer_store
