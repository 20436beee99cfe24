#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "features/context/thoughts.hpp"
#include "storage/connection.hpp"

/// The thoughts of answers, for later turns of their threads: services cache a conversation as it was sent, so an
/// answer without them is read anew. They are useless to another model.
namespace agw::thoughts_store {

/// Stores those of an answer, unless they are larger than 256 KiB. A thread has at most 1 MiB, of the model that
/// answered last.
void put(Connection& connection, const std::string& thread_id, const std::string& turn_id, const std::string& model,
         const std::vector<StepThoughts>& thoughts);

struct Found {
  AnswerThoughts answers{};
  std::size_t bytes = 0;
};
/// Those of the model in the newest of the answers whose turns are `read`, at most `limit` bytes. What is left out
/// grows in large pieces, so that a conversation seldom begins in another way than before.
Found list(Connection& connection, const std::string& thread_id, const std::string& model,
           const std::set<std::string>& read, std::size_t limit);

void forget(Connection& connection, const std::string& thread_id);

}  // namespace agw::thoughts_store
