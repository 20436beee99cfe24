#pragma once

#include <vector>

#include "features/signals/types.hpp"
#include "storage/connection.hpp"

/// The SQL of signals.
namespace agw::signal_store {

void insert(Connection& connection, const Signal& signal);
/// Newest first, of those not older than `oldest`.
std::vector<Signal> list(Connection& connection, const SignalFilter& filter, Timestamp oldest);
/// Removes some of those that are older: a few at a time, so that no request waits for many.
void purge(Connection& connection, Timestamp oldest);

}  // namespace agw::signal_store
