#pragma once

#include <string_view>

namespace agw {

/// What providers call pictures of that kind; empty for one that models do not take.
std::string_view picture_mime(std::string_view mime);

/// Whether the bytes begin as a picture of that kind does, one of those that models take. Services refuse a whole
/// request for one picture that is none.
bool is_picture(std::string_view mime, std::string_view bytes);

}  // namespace agw
