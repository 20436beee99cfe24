#pragma once

#include <ostream>
#include <string>
#include <utility>

#include "features/permissions/service.hpp"

namespace agw::testing {

inline constexpr auto stages = {Stage::apprentice, Stage::operating, Stage::trusted, Stage::sovereign};

inline ToolRequest call(std::string tool, Stage stage = Stage::sovereign, ToolTarget target = {}) {
  return {.stage = stage, .mode = ThreadMode::act, .tool = std::move(tool), .target = std::move(target)};
}

inline ToolTarget file(FilePlace place, std::string path = "/p/a.txt") {
  return {.place = place, .path = std::move(path)};
}

struct Row {
  const char* name;
  ToolRequest request;
  const char* by_stage;
};

inline void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

inline ToolRequest of_kind(ToolKind kind) {
  auto request = call("lookup");
  request.kind = kind;
  return request;
}

}  // namespace agw::testing
