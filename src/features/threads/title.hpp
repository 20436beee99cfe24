#pragma once

#include <string>
#include <string_view>

namespace agw {

/// The title of a thread before its first message.
inline constexpr std::string_view untitled = "New thread";

/// A title from the first user turn: its first few words on one line, with `…` if there are more. Empty if it has no
/// words.
std::string title_from(std::string_view content);

}  // namespace agw
