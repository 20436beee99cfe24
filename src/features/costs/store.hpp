#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "features/costs/types.hpp"
#include "storage/connection.hpp"

/// The SQL of costs. Ranges of days include the first and the last. All functions throw DatabaseError.
namespace agw::cost_store {

void add(Connection& connection, const Spending& spending);

/// USD of one day by agent.
std::map<std::string, double, std::less<>> agents_of_day(Connection& connection, LocalDay day);

/// USD of one day, of all programs that called models directly.
double clients_of_day(Connection& connection, LocalDay day);

/// USD of one day that other nodes have spent, by agent; the empty id stands for all programs that called models
/// directly.
std::map<std::string, double, std::less<>> spent_elsewhere(Connection& connection, LocalDay day);

/// USD by day; days without costs are omitted.
std::map<LocalDay, double> by_day(Connection& connection, LocalDay first, LocalDay last);
/// USD that prompt caches saved.
double saved(Connection& connection, LocalDay first, LocalDay last);
/// The share of input tokens that came from prompt caches; nullopt without input tokens.
std::optional<double> cached_share(Connection& connection, LocalDay first, LocalDay last);
std::vector<AgentCost> by_agent(Connection& connection, LocalDay first, LocalDay last);
std::vector<ModelCost> by_model(Connection& connection, LocalDay first, LocalDay last);
std::vector<ThreadCost> by_thread(Connection& connection, LocalDay first, LocalDay last, int limit);
std::vector<ClientCost> by_client(Connection& connection, LocalDay first, LocalDay last, int limit);
/// The costs of jobs, without the jobs' names.
std::vector<JobCost> by_job(Connection& connection, LocalDay first, LocalDay last);
/// USD of all days; nullopt if the thread has cost nothing. Scans all threads that have cost something.
std::optional<double> of_thread(Connection& connection, const std::string& thread_id);
std::vector<std::string> unpriced(Connection& connection, LocalDay first, LocalDay last);

}  // namespace agw::cost_store
