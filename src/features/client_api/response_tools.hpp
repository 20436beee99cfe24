#pragma once

#include <string>
#include <string_view>

#include "features/client_api/parameters.hpp"
#include "models/model.hpp"

namespace agw {

/// The name, for the model, of a function in the program's namespace `space`; just `name` if `space` is empty.
std::string name_in_namespace(std::string_view space, std::string_view name);

/// Models get a tool that takes free text as a function whose only argument, of this name, is the text.
inline constexpr std::string_view free_text_argument = "input";

/// The name, for the model, of the tool by which a program searches its deferred tools.
inline constexpr std::string_view tool_search_name = "tool_search";

/// The tools of the request, and those that items of its input add.
json::array tools_of(Parameters& body, const json::array& input);

/// The tools that were found earlier in the conversation.
json::array found_tools(const json::array& conversation);

/// Adds the tools to those that the model gets. Throws ApiError 400 that names the invalid parameter.
void read_response_tools(const json::array& tools, ModelRequest& call);

/// What the model reads as the result of a search. Throws ApiError 400.
std::string found_tools_text(const json::array& tools);

/// Reads a `tool_choice` that is an object.
void read_chosen_response_tools(Parameters& choice, ModelRequest& call);

}  // namespace agw
