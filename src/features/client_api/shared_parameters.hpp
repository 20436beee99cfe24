#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "features/client_api/parameters.hpp"
#include "features/client_api/types.hpp"

namespace agw {

// Parameters that several protocols have. Each function throws ApiError 400 that names the member.

/// Reads the `cache_control` of `object`. The gateway itself chooses what is cached; how long, the program may say.
void read_cache_mark(Parameters& object, CallOptions& options);

/// Reads the end of a part of a message: its `cache_control`, then nothing that is unknown.
void finish_part(Parameters& part, CallOptions& options);

/// Adds a part of a message to its text: on a separate line, as model servers join parts for templates that know texts
/// only.
void add_text_part(std::string& text, std::string_view part);

/// Reads `detail`: how closely a model looks at a picture. Empty if the program leaves it to the service.
std::string picture_detail(Parameters& picture);

/// Adds a picture to the last message of the request, after the text that it has so far: one in a `data:` URL at once,
/// another when it is fetched.
void add_picture(ClientRequest& request, const std::string& url, std::string detail, const std::string& param);

/// Reads `verbosity`: how long the answers of a model are. Empty if the program leaves it to the service.
std::string read_verbosity(Parameters& object);

/// Reads how much a model thinks, under `name`. No value if the program leaves it to the service.
std::optional<std::string> read_effort(Parameters& object, std::string_view name);

/// Reads what services of OpenAI's APIs get as it is: `service_tier`, and what says for whom or what an answer is.
void read_labels(Parameters& body, CallOptions& options);

/// A tool that a program names, and the parameter that has the name.
struct NamedTool {
  std::string name;
  std::string param;
};
/// Reads `allowed_tools`: leaves those of the request's tools that the program allows for this answer. `read_name`
/// reads one of them.
void read_allowed_tools(Parameters& allowed, ModelRequest& call, NamedTool (*read_name)(Parameters& tool));

/// Reads `tool_choice`: a word, or an object, which `read_object` reads.
void read_tool_choice(Parameters& body, ModelRequest& call,
                      void (*read_object)(Parameters& choice, ModelRequest& call));

/// A choice that demands a call needs tools to choose from, and one that names a tool needs that one.
void check_tool_choice(const ModelRequest& call);

/// Reads the JSON Schema that an answer has to follow, with its name. To the end of `schema`.
void read_answer_schema(Parameters& schema, ResponseFormat& format);

/// The streams of the gateway are not padded.
void refuse_obfuscation(Parameters& stream_options);

}  // namespace agw
