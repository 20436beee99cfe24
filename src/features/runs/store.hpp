#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "features/runs/types.hpp"
#include "storage/connection.hpp"

namespace agw::run_store {

void insert(Connection& connection, const Run& run, Timestamp now);

/// Ends a run that has not ended; false when it had. Its pieces and steps are dropped.
bool end(Connection& connection, const std::string& id, RunStatus status, const std::string& log, Timestamp now);

/// Does nothing where it is there already.
void append_piece(Connection& connection, const std::string& run_id, const RunPiece& piece);

/// The run's next step.
void append_step(Connection& connection, const std::string& run_id, const RunStep& step);

/// Runs that have not ended, oldest first, with their steps, and with their pieces put together.
std::vector<InterruptedRun> unfinished(Connection& connection);

/// The packed log of a run of the thread that ended after `oldest`.
std::optional<std::string> find_log(Connection& connection, const std::string& run_id, const std::string& thread_id,
                                    Timestamp oldest);

/// The run's row, ended or not.
std::optional<Run> find(Connection& connection, const std::string& id);

/// Forgets up to `limit` runs that ended before `oldest`; how many there were.
int forget(Connection& connection, Timestamp oldest, int limit);

}  // namespace agw::run_store
