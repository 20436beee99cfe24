#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "features/threads/types.hpp"

namespace agw {

/// The source whose keys are the ids of this program's own threads and turns: those of an export.
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

/// The response of `GET /threads/:id/transcript`: turns in their order, which is the opposite of that of a list.
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
  bool shared = false;  ///< as it may be given to others (shared_transcript.hpp)
};
const Description& describe(Tag<TranscriptQuery>);

/// A turn from elsewhere. `metadata.superseded` marks one that was regenerated away.
struct ImportedTurn {
  std::string key;  ///< identifies it within its thread
  Role role{};
  std::string content;
  std::optional<json::object> metadata;
  std::optional<Timestamp> created_at;     ///< none: that of the turn before it
  std::optional<std::string> in_reply_to;  ///< the key of the user turn that it answers
};
const Description& describe(Tag<ImportedTurn>);

/// A thread from elsewhere, or the next turns of one that an earlier batch began.
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
  std::string source;  ///< the program that the threads come from: keys of different sources never meet
  std::vector<ImportedThread> threads;
};
const Description& describe(Tag<ImportBatch>);

/// The changes of a batch in one thread.
struct ImportOutcome {
  std::string key;
  std::string id;
  bool created = false;
  std::int64_t turns_created = 0;
  std::int64_t turns_kept = 0;  ///< were there already
};
const Description& describe(Tag<ImportOutcome>);

/// The response of `POST /import`.
struct ImportResult {
  std::vector<ImportOutcome> threads;
};
const Description& describe(Tag<ImportResult>);

}  // namespace agw
