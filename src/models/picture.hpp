#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace agw {

/// The MIME type of the only documents that services take, as images of that type.
inline constexpr std::string_view pdf_mime = "application/pdf";

/// The MIME type by which providers know images of that type; empty if models do not accept it.
/// Example: src/models/picture_test.cpp: Picture.HasTheNameThatProvidersKnow
std::string_view picture_mime(std::string_view mime);

/// The MIME type of an image that starts with `bytes`; empty if models do not accept it.
/// Example: src/models/picture_test.cpp: Picture.HasTheTypeThatItsBytesSay
std::string_view mime_of_picture(std::string_view bytes);

/// Whether `bytes` start like an image of that type, and models accept the type. Services reject a whole request for
/// one invalid image.
bool is_picture(std::string_view mime, std::string_view bytes);

/// The longer side in pixels of a PNG, JPEG, GIF or WebP picture that starts with `bytes`; no value if they do not say
/// it.
/// Example: src/models/picture_test.cpp: Picture.HasTheSideThatItsBytesSay
std::optional<std::uint32_t> longer_side(std::string_view bytes);

}  // namespace agw
