#include "models/large_pictures.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "models/picture.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

constexpr std::uint32_t max_side = 8'000;
/// If a request has more than `many_pictures`.
constexpr std::uint32_t max_side_of_many = 2'000;
constexpr std::size_t many_pictures = 20;
/// Of the base64 text.
constexpr std::size_t max_size = std::size_t{5} << 20;
/// The first bytes of a picture contain its sides, after metadata.
constexpr std::size_t read_size = std::size_t{1} << 20;

std::vector<json::object*> pictures_of(json::object& request) {
  std::vector<json::object*> found;
  for (auto& message : request["messages"].get_array()) {
    for (auto& block : message.get_object()["content"].get_array()) {
      if (string_or_empty(block.get_object(), "type") == "image") found.push_back(&block.get_object());
    }
  }
  return found;
}

/// What is too large, for the model; empty if nothing is.
std::string excess(std::string_view data, std::uint32_t limit) {
  if (data.size() > max_size) return fmt::format("{} MB, more than 5", (data.size() >> 20) + 1);
  const auto bytes = from_base64(data.substr(0, read_size));
  const auto side = bytes ? longer_side(*bytes) : std::nullopt;
  return side.value_or(0) > limit ? fmt::format("{} pixels on one side, more than {}", *side, limit) : std::string();
}

}  // namespace

bool leave_out_large_pictures(json::object& request) {
  const auto pictures = pictures_of(request);
  const auto limit = pictures.size() > many_pictures ? max_side_of_many : max_side;
  bool changed = false;
  for (auto* picture : pictures) {
    const auto too_large = excess(picture->at("source").at("data").get_string(), limit);
    if (too_large.empty()) continue;
    picture->erase("source");
    (*picture)["type"] = "text";
    (*picture)["text"] = fmt::format("(A picture is left out, because the model cannot see it: it has {}.)", too_large);
    changed = true;
  }
  return changed;
}

}  // namespace agw
