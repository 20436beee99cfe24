#include "features/client_api/pictures.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/digest.hpp"
#include "io/http/web_request.hpp"
#include "models/picture.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

constexpr std::string_view no_picture = "is no PNG, JPEG, GIF or WebP picture";
constexpr std::string_view no_pdf = "is no PDF";

std::string decoded_file(std::string_view base64, const std::string& param) {
  if (base64.size() / 4 * 3 > max_picture_bytes) throw bad_parameter(param, "it is over 20 MiB");
  auto bytes = from_base64(base64);
  if (!bytes) throw bad_parameter(param, "is no base64");
  return std::move(*bytes);
}

/// The type and the base64 text of a `data:` URL.
std::pair<std::string_view, std::string_view> split_data_url(std::string_view url, const std::string& param,
                                                             std::string_view possible) {
  constexpr std::string_view scheme = "data:";
  constexpr std::string_view mark = ";base64,";
  const auto place = url.find(mark);
  if (!url.starts_with(scheme) || place == url.npos)
    throw bad_parameter(param, fmt::format("must be {}data:<type>;base64,<bytes>", possible));
  const auto mime = url.substr(scheme.size(), place - scheme.size());
  return {mime.substr(0, mime.find(';')), url.substr(place + mark.size())};
}

bool shows_picture(const Message& message) {
  return std::ranges::any_of(message.images, [](const Image& image) { return image.mime != pdf_mime; });
}

}  // namespace

Image picture_of(std::string_view mime, std::string_view base64, const std::string& param) {
  if (picture_mime(mime).empty()) throw bad_parameter(param, no_picture);
  auto bytes = decoded_file(base64, param);
  // Programs often specify a wrong type.
  const auto found = mime_of_picture(bytes);
  if (found.empty()) throw bad_parameter(param, no_picture);
  return {std::string(found), std::move(bytes)};
}

Image picture_in(std::string_view data_url, const std::string& param) {
  const auto [mime, base64] = split_data_url(data_url, param, "an http or https URL, or ");
  return picture_of(mime, base64, param);
}

Image pdf_of(std::string_view mime, std::string_view base64, const std::string& param) {
  if (mime != pdf_mime) throw bad_parameter(param, no_pdf);
  auto bytes = decoded_file(base64, param);
  if (!bytes.starts_with("%PDF")) throw bad_parameter(param, no_pdf);
  return {std::string(pdf_mime), std::move(bytes)};
}

Image pdf_in(std::string_view data_url, const std::string& param) {
  const auto [mime, base64] = split_data_url(data_url, param, "");
  return pdf_of(mime, base64, param);
}

void add_pdf(ClientRequest& request, Image pdf) {
  auto& message = request.call.messages.back();
  pdf.text_before = message.text.size();
  message.images.push_back(std::move(pdf));
}

bool has_picture(const ModelRequest& call) { return std::ranges::any_of(call.messages, shows_picture); }

bool asks_with_picture(const std::vector<Message>& messages) {
  const auto is_not_users = [](const Message& message) { return message.role != Message::Role::user; };
  const auto last = std::ranges::find_if(messages.rbegin(), messages.rend(), is_not_users);
  if (last != messages.rend() && last->role == Message::Role::tool) return false;
  return std::any_of(messages.rbegin(), last, shows_picture);
}

Task<Image> fetch_picture(HttpClient& http, PictureUrl picture, StopSource& stop) {
  const auto url = WebUrl::parse(picture.url);
  if (!url) throw bad_parameter(picture.param, "is no http or https URL");
  const auto response = co_await send_web_request(http, {.url = *url, .max_body_bytes = max_picture_bytes}, stop);
  if (!response.problem.empty()) {
    throw bad_parameter(picture.param, fmt::format("the picture could not be fetched: {}", response.problem));
  }
  if (response.head.status != 200) {
    throw bad_parameter(picture.param,
                        fmt::format("the picture could not be fetched: its server answered {}", response.head.status));
  }
  const auto mime = mime_of_picture(response.body);
  if (mime.empty()) throw bad_parameter(picture.param, no_picture);
  co_return Image{std::string(mime), response.body};
}

void digest_pictures(ClientRequest& request) {
  request.picture_digests.clear();
  for (const auto& message : request.call.messages) {
    auto& digests = request.picture_digests.emplace_back();
    if (message.role != Message::Role::user) continue;
    for (const auto& image : message.images) digests.push_back(to_hex(sha256(image.bytes)));
  }
}

std::vector<Message> with_pictures_of_tools(std::vector<Message> messages) {
  std::vector<Message> all;
  Message pictures{.text = "The pictures of the results above."};
  const auto add_pictures = [&] {
    if (pictures.images.empty()) return;
    all.push_back(pictures);
    pictures.images.clear();
  };
  for (auto& message : messages) {
    if (message.role != Message::Role::tool) add_pictures();
    if (message.role == Message::Role::tool) {
      for (auto& image : message.images) image.text_before = 0;
      std::ranges::move(message.images, std::back_inserter(pictures.images));
      message.images.clear();
    }
    all.push_back(std::move(message));
  }
  add_pictures();
  return all;
}

}  // namespace agw
