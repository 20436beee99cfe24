#pragma once

#include <optional>
#include <string>

#include "features/threads/service.hpp"
#include "storage/connection.hpp"

namespace agw {

/// The summary that replaces the older turns of a thread.
struct ThreadSummary {
  SummarisedTurns turns;
  std::string text;
};

}  // namespace agw

namespace agw::summary_store {

std::optional<ThreadSummary> find(Connection& connection, const std::string& thread_id);
/// Replaces the thread's summary.
void put(Connection& connection, const std::string& thread_id, const ThreadSummary& summary, Timestamp now);
/// The same, unless the summarised turns have changed: then it returns false, because the summary could preserve
/// deleted text.
bool put_if_current(Connection& connection, const std::string& thread_id, const ThreadSummary& summary, Timestamp now);

}  // namespace agw::summary_store
