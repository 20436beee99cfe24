#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The tools of a request. If there are more than 40, or those of integrations and actions would take more than a tenth
/// of the model's window, those are deferred: the model gets only their names, and FindTools to load the definitions.
struct RequestTools {
  std::vector<ToolDescription> offered{};  ///< with complete definitions, ordered by name
  std::int64_t tokens = 0;                 ///< of `offered`, estimated
  DeferredTools deferred{};
  std::string listing{};          ///< the part of the system prompt that names the deferred ones
  std::int64_t found_tokens = 0;  ///< limit of the definitions of all found tools together
};

/// Divides the tools into offered and deferred ones. FindTools is offered only if there are deferred tools.
/// Example: src/features/context/deferred_tools_test.cpp: DeferredTools.ThoseOfIntegrationsAndActionsAreDeferred
RequestTools divide_tools(const std::vector<ToolPointer>& tools, std::int64_t context_window);

/// The deferred tool of that name, or nullptr.
const ToolDescription* find_deferred(const DeferredTools& deferred, std::string_view name);

/// How many tools one search finds at most.
inline constexpr std::size_t max_found_at_once = 5;

/// The tools that match the query best; those that it names come first. Call it outside the loop, because it indexes
/// all tools.
std::vector<ToolDescription> search_tools(const std::vector<ToolDescription>& tools, std::string_view query,
                                          std::size_t limit);

/// Appends the deferred tools of these names to `offered`, as far as they fit and it does not contain them yet. The
/// model can still call the others.
void offer_found(std::vector<ToolDescription>& offered, std::int64_t& tokens, const RequestTools& tools,
                 const std::vector<std::string>& names);

}  // namespace agw
