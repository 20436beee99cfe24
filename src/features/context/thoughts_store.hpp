#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "features/context/thoughts.hpp"
#include "storage/connection.hpp"

/// The thoughts of answers, for later turns of their threads. Services cache a conversation as it was sent; without the
/// thoughts of an answer, the cache would be invalid from that answer on. Other models cannot use them.
namespace agw::thoughts_store {

/// Stores the thoughts of an answer, unless they are larger than 256 KiB. A thread keeps at most 1 MiB, all of the
/// model that answered last.
void put(Connection& connection, const std::string& thread_id, const std::string& turn_id, const std::string& model,
         const std::vector<StepThoughts>& thoughts);

/// The thoughts of an answer: the id of its turn, and their size in bytes.
using Size = std::pair<std::string, std::size_t>;
/// What is stored of the model in the thread, oldest first.
std::vector<Size> sizes(Connection& connection, const std::string& thread_id, const std::string& model);

struct Found {
  AnswerThoughts answers{};
  std::size_t bytes = 0;
};
/// The thoughts of the newest of these answers, at most `limit` bytes. Older thoughts are left out in large portions,
/// so that the beginning of a conversation, which services cache, rarely changes.
Found list(Connection& connection, const std::vector<Size>& answers, std::size_t limit);

void forget(Connection& connection, const std::string& thread_id);

}  // namespace agw::thoughts_store
