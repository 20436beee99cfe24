#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "models/model.hpp"

namespace agw {

/// Takes the pictures out of the results of a step. Gives the first `most` of them in a message to be read behind the
/// results, as all services take it; nothing where there are none.
std::optional<Message> take_pictures(std::vector<Message>& results, std::size_t most);

}  // namespace agw
