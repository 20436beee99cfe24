#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/described.hpp"

namespace agw {

/// How far a run has come, or how it ended.
enum class RunStatus {
  queued,       ///< waits for the run before it on its thread
  started,      ///< under way
  finished,     ///< ended with `finish`
  stopped,      ///< ended with `stopped`
  interrupted,  ///< was under way when the gateway was killed
};
std::span<const EnumName> names(Tag<RunStatus>);

/// The making of one answer to one user turn. A room of its own, keyed by ids only: it knows nothing of threads' and
/// agents' records.
struct Run {
  std::string id;
  std::string thread_id;
  std::string turn_id;            ///< the user turn that is answered
  std::string assistant_turn_id;  ///< allocated with the run; the turn is inserted when the run ends
  std::string agent_id;
  json::object order;  ///< how to answer, for whoever does: model, text as expanded, …
};

/// A step of a run whose tools are about to be called.
struct RunStep {
  std::int64_t text_end = 0;  ///< where in the answer they are called, in code points
  json::array calls;          ///< `{id, name, input}` each
};

/// What was saved of an answer under way at one time: its text since the piece before, and the events of that.
struct RunPiece {
  std::int64_t number = 0;
  std::string text{};
  std::string events{};    ///< see RunLog::pack_events; empty where they are not known
  std::string progress{};  ///< see `ActiveRun`, as JSON; that of the last one counts
};

/// A run that a killed gateway left behind.
struct InterruptedRun {
  Run run;
  std::vector<RunPiece> pieces;
  std::string text;            ///< of the answer, up to a second before, and up to its last step
  std::vector<RunStep> steps;  ///< in order
  json::object progress;       ///< see `ActiveRun`; empty where it was killed before its first piece of text
};

/// The query of `GET /threads/:id/events`.
struct EventsQuery {
  std::string runId;
  int after = 0;  ///< the last `seq` that the client has
};
const Description& describe(Tag<EventsQuery>);

}  // namespace agw
