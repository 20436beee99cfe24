#pragma once

#include <utility>

#include "base/json/json.hpp"
#include "models/json_reader.hpp"

namespace agw {

/// Joins OpenRouter's reasoning details: texts of the same kind and index are pieces of one text.
class ReasoningDetails {
public:
  void add(const json::object& piece) {
    auto* whole = find(piece);
    if (!whole) {
      details_.push_back(piece);
      return;
    }
    for (const auto& [name, value] : piece) {
      auto& member = (*whole)[name];
      const bool is_text = name == "text" || name == "summary" || name == "data";
      if (is_text && member.is_string() && value.is_string()) {
        member.get_string().append(value.get_string());
      } else if (!value.is_null()) {
        member = value;
      }
    }
  }

  json::array take() { return std::move(details_); }

private:
  json::object* find(const json::object& piece) {
    if (!piece.contains("index")) return nullptr;
    for (auto& detail : details_) {
      auto& object = detail.get_object();
      if (object["index"] == piece.at("index") && text_member(object, "type") == text_member(piece, "type")) {
        return &object;
      }
    }
    return nullptr;
  }

  json::array details_;
};

}  // namespace agw
