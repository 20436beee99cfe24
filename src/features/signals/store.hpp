#pragma once

#include <vector>

#include "features/signals/types.hpp"
#include "storage/connection.hpp"

/// The SQL of signals.
namespace agw::signal_store {

void insert(Connection& connection, const Signal& signal);
/// Newest first, without those older than `oldest`.
std::vector<Signal> list(Connection& connection, const SignalFilter& filter, Timestamp oldest);
/// Deletes some older signals. Few at a time, so that requests do not wait long.
void purge(Connection& connection, Timestamp oldest);

}  // namespace agw::signal_store
