#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/costs/types.hpp"
#include "storage/connection.hpp"

/// The SQL of costs. Days are given from the first to the last, both included. All throw DatabaseError.
namespace agw::cost_store {

void add(Connection& connection, const Spending& spending);

/// USD by agent of one day.
std::map<std::string, double, std::less<>> agents_of_day(Connection& connection, LocalDay day);

/// USD by day, of those that have any.
std::map<LocalDay, double> by_day(Connection& connection, LocalDay first, LocalDay last);
/// USD that prompt caches saved.
double saved(Connection& connection, LocalDay first, LocalDay last);
std::vector<AgentCost> by_agent(Connection& connection, LocalDay first, LocalDay last);
std::vector<ModelCost> by_model(Connection& connection, LocalDay first, LocalDay last);
std::vector<ThreadCost> by_thread(Connection& connection, LocalDay first, LocalDay last, int limit);
/// USD of all days; nothing where the thread has cost nothing. Looks through all threads that have cost something.
std::optional<double> of_thread(Connection& connection, const std::string& thread_id);
std::vector<std::string> unpriced(Connection& connection, LocalDay first, LocalDay last);

}  // namespace agw::cost_store
