#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "features/push/types.hpp"
#include "storage/connection.hpp"

/// The SQL of subscriptions.
namespace agw::push_store {

void insert(Connection& connection, const PushTarget& target);
/// Oldest first.
std::vector<PushTarget> list(Connection& connection);
/// Returns whether it existed.
bool remove(Connection& connection, std::string_view id);
/// Removes those that were not made with this token.
void delete_others(Connection& connection, std::string_view token_id);

}  // namespace agw::push_store
