#include "base/json_member.hpp"

namespace agw {

std::vector<std::string> texts_of(const json::array& list) {
  std::vector<std::string> texts;
  for (const auto& one : list) {
    if (one.is_string()) texts.emplace_back(one.get_string());
  }
  return texts;
}

std::vector<std::string> texts_of(const json::object& object, std::string_view name) {
  const auto* list = array_member(object, name);
  return list ? texts_of(*list) : std::vector<std::string>();
}

}  // namespace agw
