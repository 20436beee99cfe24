#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "features/threads/turn_store.hpp"
#include "storage/connection.hpp"

/// The SQL of the search index. It is written after the turns, in the background.
namespace agw::search_store {

/// Limits a search to an agent and, optionally, to one of its threads.
struct Scope {
  std::vector<std::string> agent_ids;  ///< one or two, see `thread_store::agent_ids`
  std::optional<std::int64_t> thread;  ///< a thread of that agent

  /// The words that represent the scope in the index; a turn has one of them.
  std::vector<std::string> words() const;
};

/// How much of a turn is indexed. Searches do not find the rest. Bounds how long one turn occupies the writer.
inline constexpr std::size_t max_bytes_indexed = 1024 * 1024;
std::string_view indexed_text(std::string_view content);

// Writing, in short pieces.

/// Indexes the next turns, unless the index must be merged first. Returns how many turns waited before the call; with
/// PostgreSQL, 1 if there were any.
std::int64_t index_some(Connection& connection);
/// Merges a few pages of the index. Returns false if there was nothing to merge.
bool merge_some(Connection& connection);
/// Removes the next turns of deleted threads, also from the index, unless the index must be merged first. Returns
/// whether there were any.
bool purge_some(Connection& connection);
/// Removes a turn from the index, before the turn itself is removed.
void remove(Connection& connection, const turn_store::StoredTurn& stored);

// Reading.

/// The number of the last indexed turn.
std::int64_t indexed(Connection& connection);
/// Estimates how many turns match a query of the index: exact for a few, else extrapolated from how densely the newest
/// matches are numbered.
double frequency(Connection& connection, const std::string& query);

/// Words of the index that contain `part`.
std::vector<std::string> words_with(Connection& connection, const std::string& part);

/// A matching turn, by its number.
struct Candidate {
  std::int64_t number = 0;
  std::vector<std::uint32_t> hits;  ///< see add_hits_function
};
/// The newest indexed turns that match.
std::vector<Candidate> newest(Connection& connection, const std::string& query, std::size_t limit);

// Turns by their numbers, newest first, until `each` returns false. Texts are truncated as for the index.

/// A range, both ends included.
struct Numbers {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
using EachTurn = std::function<bool(std::int64_t number, std::int64_t thread, std::string_view content)>;

/// Returns whether `each` always returned true.
bool read(Connection& connection, Numbers numbers, const EachTurn& each);
/// Reads only turns of a thread. `places` must be in descending order.
void read_thread(Connection& connection, std::int64_t thread, const std::vector<Numbers>& places, const EachTurn& each);
std::int64_t newest_number(Connection& connection);

/// Finds out which threads are in a scope, and caches the results.
class ScopedThreads {
public:
  ScopedThreads(Connection& connection, Scope scope) : connection_(connection), scope_(std::move(scope)) {}
  bool contains(std::int64_t thread);

private:
  Connection& connection_;
  Scope scope_;
  std::unordered_map<std::int64_t, bool> known_;
};

}  // namespace agw::search_store
