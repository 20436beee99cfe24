#include "models/picture.hpp"

#include <algorithm>
#include <array>

namespace agw {

namespace {

struct PictureKind {
  std::string_view mime;
  bool (*begins)(std::string_view bytes);
};

constexpr std::array kinds{
    PictureKind{"image/png", [](std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n"); }},
    PictureKind{"image/jpeg", [](std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }},
    PictureKind{"image/gif", [](std::string_view bytes) { return bytes.starts_with("GIF8"); }},
    PictureKind{"image/webp", [](std::string_view bytes) {
                  return bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP");
                }}};

const PictureKind* kind_of(std::string_view mime) {
  // Not the registered type, but common.
  if (mime == "image/jpg") mime = "image/jpeg";
  const auto* const found = std::ranges::find(kinds, mime, &PictureKind::mime);
  return found == kinds.end() ? nullptr : found;
}

}  // namespace

std::string_view picture_mime(std::string_view mime) {
  const auto* const kind = kind_of(mime);
  return kind ? kind->mime : std::string_view();
}

std::string_view mime_of_picture(std::string_view bytes) {
  const auto* const found = std::ranges::find_if(kinds, [&](const PictureKind& kind) { return kind.begins(bytes); });
  return found == kinds.end() ? std::string_view() : found->mime;
}

bool is_picture(std::string_view mime, std::string_view bytes) {
  const auto* const kind = kind_of(mime);
  return kind && kind->begins(bytes);
}

}  // namespace agw
