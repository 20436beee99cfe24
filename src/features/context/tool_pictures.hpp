#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "models/model.hpp"

namespace agw {

/// Removes the pictures from the results of a step. Returns the first `most` of them in a message that follows the
/// results, which all services accept; no value if there are none.
std::optional<Message> extract_pictures(std::vector<Message>& results, std::size_t most);

}  // namespace agw
