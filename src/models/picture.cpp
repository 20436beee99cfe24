#include "models/picture.hpp"

#include <algorithm>
#include <array>

namespace agw {

namespace {

struct Kind {
  std::string_view mime;
  bool (*begins)(std::string_view bytes);
};

constexpr std::array kinds{Kind{"image/png", [](std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n"); }},
                           Kind{"image/jpeg", [](std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }},
                           Kind{"image/gif", [](std::string_view bytes) { return bytes.starts_with("GIF8"); }},
                           Kind{"image/webp", [](std::string_view bytes) {
                                  return bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP");
                                }}};

const Kind* kind_of(std::string_view mime) {
  // Not its name, but what many programs call it.
  if (mime == "image/jpg") mime = "image/jpeg";
  const auto* const found = std::ranges::find(kinds, mime, &Kind::mime);
  return found == kinds.end() ? nullptr : found;
}

}  // namespace

std::string_view picture_mime(std::string_view mime) {
  const auto* const kind = kind_of(mime);
  return kind ? kind->mime : std::string_view();
}

bool is_picture(std::string_view mime, std::string_view bytes) {
  const auto* const kind = kind_of(mime);
  return kind && kind->begins(bytes);
}

}  // namespace agw
