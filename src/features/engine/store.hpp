#pragma once

#include <optional>
#include <string>

#include "features/threads/service.hpp"
#include "storage/connection.hpp"

namespace agw {

/// What stands for the older turns of a thread.
struct ThreadSummary {
  SummarisedTurns turns;
  std::string text;
};

}  // namespace agw

namespace agw::summary_store {

std::optional<ThreadSummary> find(Connection& connection, const std::string& thread_id);
/// In place of the one before.
void put(Connection& connection, const std::string& thread_id, const ThreadSummary& summary, Timestamp now);

}  // namespace agw::summary_store
