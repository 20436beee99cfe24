#pragma once

#include <string>
#include <vector>

#include "features/attachments/types.hpp"
#include "features/context/context_window.hpp"  // IWYU pragma: export
#include "features/context/deferred_tools.hpp"  // IWYU pragma: export
#include "features/context/prompt.hpp"          // IWYU pragma: export
#include "features/context/thoughts.hpp"        // IWYU pragma: export
#include "features/context/types.hpp"           // IWYU pragma: export

namespace agw {

/// Whether the attachment is a picture of a type that models accept.
bool is_image(const Attachment& attachment);

/// The metadata of a user turn with these attachments.
json::object attachment_metadata(const std::vector<Attachment>& attachments);

/// The deferred tools that a thread has found.
std::vector<std::string> found_tools(Connection& connection, const std::string& thread_id);

/// Stores the thoughts of an answer of `model`, for later turns of the thread. Deletes those of other models.
void store_thoughts(Connection& connection, const std::string& thread_id, const std::string& turn_id,
                    const std::string& model, const std::vector<StepThoughts>& thoughts);

/// Gives a fork the models' thoughts in the answers that it has copied. Called inside the write that makes the fork.
void copy_thoughts_to_fork(Connection& connection, const Fork& fork);

/// Gives a fork the deferred tools that the original thread has found: the results of searches that it has copied say
/// that these can be called. Called inside the write that makes the fork.
void copy_found_tools_to_fork(Connection& connection, const Fork& fork);

/// Gives a fork the summary of the turns that it has copied. Called inside the write that makes the fork.
void copy_summary_to_fork(Connection& connection, const Fork& fork, Timestamp now);

}  // namespace agw
