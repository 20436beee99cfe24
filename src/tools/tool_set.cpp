#include "tools/tool_set.hpp"

#include <utility>

#include "base/async/assert.hpp"

namespace agw {

void ToolSet::add(Tool tool) {
  auto name = tool.description.name;
  AGW_ASSERT(!name.empty());
  AGW_ASSERT(tool.call);
  AGW_CHECK(!own_.contains(name), "two tools are named " + name);
  own_.emplace(std::move(name), std::make_shared<const Tool>(std::move(tool)));
}

void ToolSet::add(std::vector<Tool> tools) {
  for (auto& tool : tools) add(std::move(tool));
}

void ToolSet::add(Source source) {
  AGW_ASSERT(source);
  sources_.push_back(std::move(source));
}

std::map<std::string, ToolPointer, std::less<>> ToolSet::all() const {
  auto tools = own_;
  for (const auto& source : sources_) {
    for (auto& tool : source()) tools.emplace(tool->description.name, std::move(tool));
  }
  return tools;
}

ToolPointer ToolSet::find(std::string_view name) const {
  if (const auto found = own_.find(name); found != own_.end()) return found->second;
  for (const auto& source : sources_) {
    for (auto& tool : source()) {
      if (tool->description.name == name) return tool;
    }
  }
  return nullptr;
}

}  // namespace agw
