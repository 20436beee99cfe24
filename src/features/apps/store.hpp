#pragma once

#include <vector>

#include "features/apps/process_mark.hpp"
#include "storage/connection.hpp"

/// The SQL of apps.
namespace agw::app_store {

std::vector<ProcessMark> processes(Connection& connection);
void insert(Connection& connection, const ProcessMark& mark);
void remove(Connection& connection, const ProcessMark& mark);
void clear(Connection& connection);

}  // namespace agw::app_store
