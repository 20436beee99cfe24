#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// The state of a run, or how it ended.
enum class RunStatus {
  queued,       ///< waits for the run before it on its thread
  started,      ///< active
  finished,     ///< ended with `finish`
  stopped,      ///< ended with `stopped`
  interrupted,  ///< was active when the gateway was killed
  steered,      ///< never began: its message joined the run before it
};
std::span<const EnumName> names(Tag<RunStatus>);

/// The creation of one answer to one user turn. Refers to threads and agents by id only, because this room comes before
/// theirs.
struct Run {
  std::string id;
  std::string thread_id;
  std::string turn_id;            ///< the user turn that it answers
  std::string assistant_turn_id;  ///< allocated with the run; the turn is inserted when the run ends
  std::string agent_id;
  json::object order;  ///< how to answer: model, expanded text, …
};

/// A step of a run, stored before its tools are called.
struct RunStep {
  std::int64_t text_end = 0;  ///< position of the calls in the answer, in code points
  json::array calls;          ///< `{id, name, input}` each
};

/// The part of an unfinished answer that one checkpoint stores: the text since the previous piece, and its events.
struct RunPiece {
  std::int64_t number = 0;
  std::string text{};
  std::string events{};    ///< see RunLog::pack_events; empty if they are not known
  std::string progress{};  ///< ActiveRun::progress as JSON; only that of the last piece is used
};

/// A run that was active or waiting when the gateway was killed.
struct InterruptedRun {
  Run run;
  std::vector<RunPiece> pieces;
  std::string text;            ///< of the answer: all up to its last step, and all but about the last second
  std::vector<RunStep> steps;  ///< in order
  json::object progress;       ///< ActiveRun::progress; empty if the run was killed before its first piece
};

/// The query of `GET /threads/:id/events`.
struct EventsQuery {
  std::string runId;
  int after = 0;  ///< the last `seq` that the client has
};
const Description& describe(Tag<EventsQuery>);

}  // namespace agw
