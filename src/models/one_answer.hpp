#pragma once

#include <optional>
#include <string>

#include "models/catalog.hpp"

namespace agw {

/// Has the default model answer one request, outside of any thread: for texts that the gateway itself wants. Nothing
/// where no model is configured, where it fails, and where `stop` was requested.
Task<std::optional<std::string>> one_answer(const Models& models, std::string instructions, std::string request,
                                            Stop& stop);

}  // namespace agw
