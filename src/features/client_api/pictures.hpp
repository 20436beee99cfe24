#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "features/client_api/types.hpp"
#include "io/http/http_client.hpp"

namespace agw {

/// Maximum size, in bytes, of a picture that a request contains or names.
inline constexpr std::size_t max_picture_bytes = 20 * 1024 * 1024;

/// The picture in a `data:` URL. Throws BadRequest that names `param`.
Image picture_in(std::string_view data_url, const std::string& param);
/// The picture with that type and these base64 bytes. Throws BadRequest that names `param`.
Image picture_of(std::string_view mime, std::string_view base64, const std::string& param);

/// The same for a PDF, which is an image of that type for services.
Image pdf_in(std::string_view data_url, const std::string& param);
Image pdf_of(std::string_view mime, std::string_view base64, const std::string& param);

/// Adds a PDF to the last message, after its text so far.
void add_pdf(ClientRequest& request, Image pdf);

/// Whether a picture is in the request. PDFs do not count: a text replaces them if they are not possible.
bool has_picture(const ModelRequest& call);
/// Whether the question of the user at the end has a picture. With results of tools before it, it may be a comment on
/// them.
bool asks_with_picture(const std::vector<Message>& messages);

/// Fetches the picture from a public address. Throws BadRequest that names the parameter.
Task<Image> fetch_picture(HttpClient& http, PictureUrl picture, StopSource& stop);

/// Sets `picture_digests` of a request whose pictures have been fetched.
void digest_pictures(ClientRequest& request);

/// Moves the pictures of tool results to a user message after them, because services do not accept pictures in results.
std::vector<Message> with_pictures_of_tools(std::vector<Message> messages);

}  // namespace agw
