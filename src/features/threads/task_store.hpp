#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "features/threads/types.hpp"
#include "storage/connection.hpp"

/// The SQL of the lists of tasks.
namespace agw::task_store {

std::vector<ThreadTask> list(Connection& connection, std::int64_t thread);
/// Replaces the list.
void put(Connection& connection, std::int64_t thread, const std::vector<ThreadTask>& tasks);
/// Gives `copy` the list of `original`.
void copy(Connection& connection, std::int64_t original, std::int64_t copy);

}  // namespace agw::task_store
