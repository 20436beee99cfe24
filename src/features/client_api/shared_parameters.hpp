#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "features/client_api/parameters.hpp"
#include "features/client_api/types.hpp"

namespace agw {

// Parameters that several protocols share. All functions throw ApiError 400 that names the invalid member.

/// Reads the `cache_control` of `object`. The gateway itself chooses what to cache, but the program may choose for how
/// long.
void read_cache_mark(Parameters& object, CallOptions& options);

/// Reads the `cache_control` of a request or a part of one, and rejects unknown members.
void finish_part(Parameters& part, CallOptions& options);

/// Appends a part of a message to its text, on a new line. Model servers do the same for templates that support only
/// text.
void add_text_part(std::string& text, std::string_view part);

/// Makes the system prompt the question if the conversation has nothing else, because services require a message.
void ask_lone_instructions(ModelRequest& call);

/// Reads `detail`, the resolution at which a model processes a picture. Empty for the service's default.
std::string picture_detail(Parameters& picture);

/// Adds a picture to the last message of the request, after its text so far. A `data:` URL is decoded at once, any
/// other is fetched later.
void add_picture(ClientRequest& request, const std::string& url, std::string detail, const std::string& param);

/// Reads `verbosity`, the desired length of answers. Empty for the service's default.
std::string read_verbosity(Parameters& object);

/// Reads the reasoning effort from the member `name`. No value for the service's default.
std::optional<std::string> read_effort(Parameters& object, std::string_view name);

/// Reads parameters that are passed unchanged to services with OpenAI's APIs: `service_tier`, and labels that identify
/// the user or purpose of an answer.
void read_labels(Parameters& body, CallOptions& options);

/// The name of a tool in a request, and the path of the parameter that contains it.
struct NamedTool {
  std::string name;
  std::string param;
};
/// Reads `allowed_tools`: keeps only those of the request's tools that the program allows for this answer. `read_name`
/// reads one element.
void read_allowed_tools(Parameters& allowed, ModelRequest& call, NamedTool (*read_name)(Parameters& tool));

/// Reads `tool_choice`, which is either a word or an object; `read_object` reads the latter.
void read_tool_choice(Parameters& body, ModelRequest& call,
                      void (*read_object)(Parameters& choice, ModelRequest& call));

/// Rejects a choice that requires a call if there are no tools, and one that names a tool that is missing.
void check_tool_choice(const ModelRequest& call);

/// Reads the JSON Schema that an answer must match, with its name, and rejects unknown members of `schema`.
void read_answer_schema(Parameters& schema, ResponseFormat& format);

/// Rejects `include_obfuscation`, because the gateway does not pad streams.
void refuse_obfuscation(Parameters& stream_options);

}  // namespace agw
