#pragma once

#include <vector>

#include "features/signals/types.hpp"
#include "storage/connection.hpp"

/// The SQL of signals.
namespace agw::signal_store {

void insert(Connection& connection, const Signal& signal);
/// Newest first, of those not older than `oldest`.
std::vector<Signal> list(Connection& connection, const SignalFilter& filter, Timestamp oldest);
/// Removes some older signals: a few at a time, so that requests do not wait long.
void purge(Connection& connection, Timestamp oldest);

}  // namespace agw::signal_store
