#include "models/picture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ranges>

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

/// The number in the bytes, the most significant first.
std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes | std::views::reverse) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

/// ITU-T T.81, B.1 and B.2.2: segments of a marker, a length and data, up to the frame header with the sides.
std::optional<std::uint32_t> longer_side_of_jpeg(std::string_view bytes) {
  constexpr std::size_t header_size = 9;
  for (std::size_t at = 2; at + header_size <= bytes.size();) {
    if (bytes[at] != '\xff') return std::nullopt;
    const auto marker = static_cast<unsigned char>(bytes[at + 1]);
    const bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame) return std::max(big_endian(bytes.substr(at + 5, 2)), big_endian(bytes.substr(at + 7, 2)));
    at += marker == 0xff ? 1 : 2 + big_endian(bytes.substr(at + 2, 2));
  }
  return std::nullopt;
}

/// https://developers.google.com/speed/webp/docs/riff_container
std::optional<std::uint32_t> longer_side_of_webp(std::string_view bytes) {
  if (bytes.size() < 30) return std::nullopt;
  constexpr std::uint32_t mask = 0x3fff;
  const auto kind = bytes.substr(12, 4);
  if (kind == "VP8X") return 1 + std::max(little_endian(bytes.substr(24, 3)), little_endian(bytes.substr(27, 3)));
  if (kind == "VP8 ")
    return std::max(little_endian(bytes.substr(26, 2)) & mask, little_endian(bytes.substr(28, 2)) & mask);
  const auto sides = little_endian(bytes.substr(21, 4));
  return 1 + std::max(sides & mask, sides >> 14 & mask);
}

}  // namespace

std::optional<std::uint32_t> longer_side(std::string_view bytes) {
  const auto mime = mime_of_picture(bytes);
  if (mime == "image/jpeg") return longer_side_of_jpeg(bytes);
  if (mime == "image/webp") return longer_side_of_webp(bytes);
  if (mime == "image/gif" && bytes.size() >= 10)
    return std::max(little_endian(bytes.substr(6, 2)), little_endian(bytes.substr(8, 2)));
  if (mime == "image/png" && bytes.size() >= 24)
    return std::max(big_endian(bytes.substr(16, 4)), big_endian(bytes.substr(20, 4)));
  return std::nullopt;
}

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
