#pragma once

#include <span>
#include <string>
#include <vector>

#include "features/threads/types.hpp"
#include "models/model.hpp"

namespace agw {

// Reduces a conversation that exceeds a model's window. Sizes are in bytes.

/// The size of turns, including their metadata.
std::size_t total_size(const std::vector<Turn>& turns);
/// The size of messages, including their calls.
std::size_t total_size(std::span<const Message> messages);

/// Removes the oldest of `turns`, at least `min_count`, until the others have at most `budget` bytes; never removes the
/// last one. Returns the removed turns.
std::vector<Turn> remove_oldest(std::vector<Turn>& turns, std::size_t budget, std::size_t min_count = 0);

/// The request for a summary of `turns` and an `earlier` summary. Contains at most about `budget` bytes of the turns.
ModelRequest summary_request(const std::string& earlier, const std::vector<Turn>& turns, std::size_t budget);

/// A summary made without a model: the first line of each of the latest messages.
std::string plain_summary(const std::string& earlier, const std::vector<Turn>& turns);

/// The first message of a conversation whose older turns were summarised.
Message summary_message(const std::string& summary);

/// Shortens tool results until the messages have at most `budget` bytes, if that is possible: first the oldest results,
/// then the inputs of calls, and finally the results of the last step, which no model has seen yet, each to its fair
/// share. Returns whether anything was shortened.
/// Example: src/features/context/compaction_test.cpp: ShortenResults.StartsWithTheOldest
bool shorten_results(std::vector<Message>& messages, std::size_t budget);

}  // namespace agw
