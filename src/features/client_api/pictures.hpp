#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/client_api/types.hpp"
#include "io/http/http_client.hpp"

namespace agw {

/// The largest picture that a request may contain or name, in bytes.
inline constexpr std::size_t max_picture_bytes = 20 * 1024 * 1024;

/// The bytes, no value if the text is no base64. The padding may be left out.
std::optional<std::string> from_base64(std::string_view text);

/// The picture in a `data:` URL. Throws BadRequest that names `param`.
Image picture_in(std::string_view data_url, const std::string& param);
/// A picture of that type, given in base64. Throws BadRequest that names `param`.
Image picture_of(std::string_view mime, std::string_view base64, const std::string& param);

/// Fetches the picture from a public address. Throws BadRequest that names the parameter.
Task<Image> fetch_picture(HttpClient& http, PictureUrl picture, StopSource& stop);

/// Puts the pictures of tool results into a user's message behind them: services accept none with the results.
std::vector<Message> with_pictures_of_tools(std::vector<Message> messages);

}  // namespace agw
