#pragma once

#include <span>
#include <string>
#include <vector>

#include "features/threads/types.hpp"
#include "models/model.hpp"

namespace agw {

// What becomes of a conversation that outgrows a model's window. Sizes are in bytes.

/// What turns take, with their metadata.
std::size_t total_size(const std::vector<Turn>& turns);
/// What messages take, with the calls in them.
std::size_t total_size(std::span<const Message> messages);

/// Takes the oldest turns out of `turns`, at least `least` of them, until the others come to at most `budget`; the last
/// stays. Gives those taken.
std::vector<Turn> take_older(std::vector<Turn>& turns, std::size_t budget, std::size_t least = 0);

/// The request for a summary of `turns`, and of what an earlier summary said; it holds at most `budget` of them.
ModelRequest summary_request(const std::string& earlier, const std::vector<Turn>& turns, std::size_t budget);

/// A summary that needs no model: how each message begins, the latest of them.
std::string plain_summary(const std::string& earlier, const std::vector<Turn>& turns);

/// The message that begins a conversation whose older turns were summarised.
Message summary_message(const std::string& summary);

/// Shortens tool results until the messages come to at most `budget`, as far as that goes: the oldest first, then what
/// the calls were given, and only then those results of the last step, which the model has not seen yet, each to its
/// fair share. Whether it had to.
bool shorten_results(std::vector<Message>& messages, std::size_t budget);

}  // namespace agw
