#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "features/threads/types.hpp"

namespace agw {

/// The source of this program's own exports, whose keys are the ids of threads and turns.
inline constexpr std::string_view own_source = "agent-gateway";

/// A turn of a transcript.
struct TranscriptTurn : Turn {
  std::optional<std::string> in_reply_to;  ///< the id of the user turn that it answers, if it was stored with one
};
const Description& describe(Tag<TranscriptTurn>);

/// A thread with its agent's list of tasks.
struct TranscriptThread : Thread {
  std::optional<std::vector<ThreadTask>> tasks;  ///< no value if the agent never kept a list
};
const Description& describe(Tag<TranscriptThread>);

/// The response of `GET /threads/:id/transcript`: turns oldest first, unlike in a list.
struct Transcript {
  TranscriptThread thread;
  std::vector<TranscriptTurn> turns;
  std::optional<std::string> next;  ///< the `after` of the next page; null after the last turn
};
const Description& describe(Tag<Transcript>);

/// The query of `GET /threads/:id/transcript`.
struct TranscriptQuery {
  std::optional<std::string> after;  ///< a turn of the thread: those newer than it
  Limit limit{500};
  bool shared = false;  ///< reduced to what may be shared (shared_transcript.hpp)
};
const Description& describe(Tag<TranscriptQuery>);

/// A turn to import. `metadata.superseded` marks one that a newer answer replaced.
struct ImportedTurn {
  std::string key;  ///< identifies it within its thread
  Role role{};
  std::string content;
  std::optional<json::object> metadata;
  std::optional<Timestamp> created_at;     ///< defaults to the time of the previous turn
  std::optional<std::string> in_reply_to;  ///< the key of the user turn that it answers
};
const Description& describe(Tag<ImportedTurn>);

/// A thread to import, or the next turns of a thread that an earlier batch began.
struct ImportedThread {
  std::string key;  ///< identifies it within its source
  std::optional<std::string> agent_id;
  std::optional<std::string> title;
  std::optional<std::string> project_id;  ///< must exist
  std::optional<std::string> job_id;      ///< dropped if there is no such job
  std::optional<ThreadMode> mode;
  bool archived = false;
  bool pinned = false;
  std::optional<Timestamp> created_at;
  std::optional<Timestamp> updated_at;
  std::optional<std::vector<ThreadTask>> tasks;
  std::vector<ImportedTurn> turns;
};
const Description& describe(Tag<ImportedThread>);

/// The body of `POST /import`.
struct ImportBatch {
  std::string source;  ///< the program that the threads come from; a namespace of the keys
  std::vector<ImportedThread> threads;
};
const Description& describe(Tag<ImportBatch>);

/// The changes of a batch in one thread.
struct ImportOutcome {
  std::string key;
  std::string id;
  bool created = false;
  std::int64_t turns_created = 0;
  std::int64_t turns_kept = 0;  ///< already existed
};
const Description& describe(Tag<ImportOutcome>);

/// The response of `POST /import`.
struct ImportResult {
  std::vector<ImportOutcome> threads;
};
const Description& describe(Tag<ImportResult>);

}  // namespace agw
