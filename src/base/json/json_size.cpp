#include "base/json/json_size.hpp"

namespace agw {

std::size_t json_size(const json::array& list, std::size_t enough) {
  std::size_t size = 2;
  for (const auto& element : list) {
    if (size >= enough) break;
    size += json_size(element, enough - size) + 1;
  }
  return size;
}

std::size_t json_size(const json::object& members, std::size_t enough) {
  std::size_t size = 2;
  for (const auto& member : members) {
    if (size >= enough) break;
    size += member.key().size() + json_size(member.value(), enough - size) + 4;
  }
  return size;
}

std::size_t json_size(const json::value& value, std::size_t enough) {
  constexpr std::size_t of_others = 4;  // `null`, `true`, short numbers
  if (const auto* text = value.if_string()) return text->size() + 2;
  if (const auto* list = value.if_array()) return json_size(*list, enough);
  if (const auto* members = value.if_object()) return json_size(*members, enough);
  return of_others;
}

}  // namespace agw
