#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time/time.hpp"
#include "features/runs/types.hpp"
#include "storage/connection.hpp"

namespace agw::run_store {

void insert(Connection& connection, const Run& run, Timestamp now);

/// Ends a run and deletes its pieces and steps. Returns false if it had already ended.
bool end(Connection& connection, const std::string& id, RunStatus status, const std::string& log, Timestamp now);

/// Ends a run that has not begun, because its message has joined another run. Throws InternalError if it had ended.
void end_as_steered(Connection& connection, const std::string& id, Timestamp now);

/// Adds a piece. Does nothing if the piece exists or the run has ended.
void append_piece(Connection& connection, const std::string& run_id, const RunPiece& piece);

/// Adds the run's next step.
void append_step(Connection& connection, const std::string& run_id, const RunStep& step);

/// The runs that have not ended, oldest first, with their steps and pieces.
std::vector<InterruptedRun> unfinished(Connection& connection);

/// The stored pieces of an active run, in order.
std::vector<RunPiece> pieces(Connection& connection, const std::string& run_id);

/// The packed log of a run of the thread that ended after `oldest`.
std::optional<std::string> find_log(Connection& connection, const std::string& run_id, const std::string& thread_id,
                                    Timestamp oldest);

/// Whether a run that answers the turn has not ended.
bool is_being_answered(Connection& connection, const std::string& turn_id);

/// The run's row, ended or not.
std::optional<Run> find(Connection& connection, const std::string& id);

/// Deletes up to `limit` runs that ended before `oldest`. Returns how many it deleted.
int forget(Connection& connection, Timestamp oldest, int limit);

}  // namespace agw::run_store
