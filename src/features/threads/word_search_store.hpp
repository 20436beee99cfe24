#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "features/threads/search_store.hpp"
#include "storage/connection.hpp"

/// The search index of turns in PostgreSQL (migrations/postgres/0020_threads.sql). It finds the turns that contain the
/// words of a query. Phrases and all other conditions are checked in their texts.
namespace agw::word_search_store {

/// Indexes the next turns. Returns whether there were any.
bool index_some(Connection& connection);
/// Removes the next turns of deleted threads. Returns whether there were any.
bool purge_some(Connection& connection);

/// Visits the turns of the scope that are not indexed yet, then the indexed ones that match `query`
/// (storage/word_vector.hpp), each group newest first. Ends when `each` returns false or `max_checked` indexed turns
/// were visited.
void candidates(Connection& connection, const search_store::Scope& scope, const std::string& query,
                const std::function<bool(std::int64_t number, std::string_view content)>& each);

inline constexpr int max_checked = 5000;

}  // namespace agw::word_search_store
