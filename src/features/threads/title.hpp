#pragma once

#include <string>
#include <string_view>

namespace agw {

/// What a thread is called before anything was said on it.
inline constexpr std::string_view untitled = "New thread";

/// A title from the first user turn: its first few words on one line, `…` where there are more. Empty where it has
/// none.
std::string title_from(std::string_view content);

}  // namespace agw
