// Reads OpenAI's Chat Completions. docs/contract/clients.md has the table of what is accepted.

#include "features/client_api/chat_completions.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "features/client_api/instructions.hpp"
#include "features/client_api/parameters.hpp"
#include "features/client_api/pictures.hpp"
#include "features/client_api/shared_parameters.hpp"
#include "features/client_api/tool_parameters.hpp"
#include "models/call_features.hpp"
#include "models/tool_calls.hpp"

namespace agw {

namespace {

constexpr std::size_t max_parts = 1'000;
constexpr double max_penalty = 2;

class ChatMessages {
public:
  explicit ChatMessages(ClientRequest& request) : request_(request), call_(request.call) {}

  void read(const json::array& messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto path = fmt::format("messages[{}]", i);
      read_message(object_at(messages[i], path), path);
    }
    ask_lone_instructions(call_);
    if (call_.messages.empty()) throw bad_parameter("messages", "must contain a message of the user");
  }

private:
  void read_message(const json::object& object, const std::string& path) {
    Parameters message(object, path);
    const auto role = message.required_text("role");
    if (role == "system" || role == "developer") {
      // SillyTavern marks the speakers of examples in this way.
      const auto name = message.text("name");
      add_instructions(call_, name ? fmt::format("{}: {}", *name, text_of(message)) : text_of(message));
    } else if (role == "user") {
      call_.messages.emplace_back().name = message.text("name").value_or("");
      read_content(message);
    } else if (role == "assistant") {
      read_assistant(message);
    } else if (role == "tool") {
      read_result(message);
    } else {
      throw bad_parameter(message.path_of("role"), "must be system, developer, user, assistant or tool");
    }
    finish_part(message, call_.options);
  }

  /// Reads content that must be text.
  std::string text_of(Parameters& message) {
    const auto path = message.path_of("content");
    const auto* content = message.find("content");
    if (!content) return {};
    if (content->is_string()) return std::string(content->get_string());
    const auto* parts = message.array("content", max_parts);
    std::string text;
    for (std::size_t i = 0; i < parts->size(); ++i) {
      const auto at = fmt::format("{}[{}]", path, i);
      Parameters part(object_at((*parts)[i], at), at);
      const auto type = part.required_text("type");
      if (type != "text" && type != "refusal") throw bad_parameter(part.path_of("type"), "only text is possible here");
      add_text_part(text, part.text(type).value_or(""));
      // OpenAI's Agents SDK repeats in a part what the answer had beside its text.
      part.ignore({"role", "refusal", "reasoning_content", "tool_calls", "annotations"});
      finish_part(part, call_.options);
    }
    return text;
  }

  /// Reads the content of a user's message or a tool result: texts and pictures.
  void read_content(Parameters& message) {
    auto& read = call_.messages.back();
    const auto path = message.path_of("content");
    const auto* content = message.find("content");
    if (!content) throw bad_parameter(path, "is missing");
    if (content->is_string()) {
      read.text = content->get_string();
      return;
    }
    const auto* parts = message.array("content", max_parts);
    for (std::size_t i = 0; i < parts->size(); ++i) {
      const auto at = fmt::format("{}[{}]", path, i);
      Parameters part(object_at((*parts)[i], at), at);
      const auto type = part.required_text("type");
      if (type == "text") {
        add_text_part(read.text, part.text("text").value_or(""));
      } else if (type == "image_url") {
        read_picture(part);
      } else if (type == "file") {
        read_file(part);
      } else {
        throw bad_parameter(part.path_of("type"), "must be text, image_url or file");
      }
      finish_part(part, call_.options);
    }
  }

  void read_picture(Parameters& part) {
    const auto* object = part.object("image_url");
    if (!object) throw bad_parameter(part.path_of("image_url"), "is missing");
    Parameters picture(*object, part.path_of("image_url"));
    const auto url = picture.required_text("url");
    const auto param = picture.path_of("url");
    const auto detail = picture_detail(picture);
    picture.finish();
    add_picture(request_, url, detail, param);
  }

  void read_file(Parameters& part) {
    const auto* object = part.object("file");
    if (!object) throw bad_parameter(part.path_of("file"), "is missing");
    Parameters file(*object, part.path_of("file"));
    add_pdf(request_, pdf_in(file.required_text("file_data"), file.path_of("file_data")));
    file.ignore({"filename"});
    file.finish();
  }

  void read_assistant(Parameters& message) {
    Message read{.role = Message::Role::assistant, .text = text_of(message)};
    read.name = message.text("name").value_or("");
    read.text += message.text("refusal").value_or("");
    read_thoughts(message, read);
    // OpenAI's library adds `parsed` to the answers, and `parsed_arguments` to the calls, that it has read itself.
    message.ignore({"annotations", "parsed"});
    if (const auto* calls = message.array("tool_calls", max_client_tools)) {
      for (std::size_t i = 0; i < calls->size(); ++i) {
        const auto path = fmt::format("{}[{}]", message.path_of("tool_calls"), i);
        read.tool_uses.push_back(read_call(object_at((*calls)[i], path), path));
      }
    }
    if (!read.text.empty() || !read.tool_uses.empty()) call_.messages.push_back(std::move(read));
  }

  /// Reads the model's thoughts, which are sent back to it if its service accepts them.
  void read_thoughts(Parameters& message, Message& read) const {
    const auto thoughts = message.text("reasoning_content");
    const auto same = message.text("reasoning");
    if (const auto& text = thoughts ? thoughts : same; text && !text->empty())
      read.provider_blocks.push_back(json::object{{"reasoning_content", *text}});
    if (const auto* details = message.array("reasoning_details", max_parts))
      read.provider_blocks.insert(read.provider_blocks.end(), details->begin(), details->end());
    if (!read.provider_blocks.empty()) read.provider_blocks_of = request_.model;
  }

  ToolUse read_call(const json::object& object, const std::string& path) {
    Parameters call(object, path);
    if (call.text("type").value_or("function") != "function")
      throw bad_parameter(call.path_of("type"), "must be function");
    call.ignore({"index"});
    ToolUse use{.id = call.required_text("id"), .name = {}, .input = {}};
    const auto* function = call.object("function");
    if (!function) throw bad_parameter(call.path_of("function"), "is missing");
    Parameters called(*function, call.path_of("function"));
    use.name = called.required_text("name");
    check_tool_name(use.name, called.path_of("name"));
    set_arguments_of(use, called.text("arguments").value_or(""));
    names_[use.id] = use.name;
    called.ignore({"parsed_arguments"});
    called.finish();
    finish_part(call, call_.options);
    return use;
  }

  void read_result(Parameters& message) {
    const auto id = message.required_text("tool_call_id");
    const auto name = names_.find(id);
    if (name == names_.end()) {
      throw bad_parameter(message.path_of("tool_call_id"), "no message before it has a tool call with this id");
    }
    call_.messages.push_back({.role = Message::Role::tool, .tool_call_id = id, .tool_name = name->second});
    message.ignore({"name"});  // The call contains it.
    read_content(message);
  }

  ClientRequest& request_;
  ModelRequest& call_;
  std::map<std::string, std::string, std::less<>> names_;  ///< of the tools that were called, by the call's id
};

void read_tools(Parameters& body, ModelRequest& call) {
  const auto* tools = body.array("tools", max_client_tools);
  for (std::size_t i = 0; tools && i < tools->size(); ++i) {
    const auto path = fmt::format("tools[{}]", i);
    Parameters tool(object_at((*tools)[i], path), path);
    if (tool.required_text("type") != "function") throw bad_parameter(tool.path_of("type"), "must be function");
    const auto* object = tool.object("function");
    if (!object) throw bad_parameter(tool.path_of("function"), "is missing");
    Parameters function(*object, tool.path_of("function"));
    auto& read = call.tools.emplace_back();
    read.name = function.required_text("name");
    check_tool_name(read.name, function.path_of("name"));
    read.description = function.text("description").value_or("");
    read.input_schema = tool_schema(function.find("parameters"), function.path_of("parameters"));
    read.strict = function.flag("strict");
    function.finish();
    read_cache_mark(tool, call.options);
    tool.finish();
  }
}

NamedTool read_named_function(Parameters& object) {
  if (object.required_text("type") != "function") throw bad_parameter(object.path_of("type"), "must be function");
  const auto* member = object.object("function");
  if (!member) throw bad_parameter(object.path_of("function"), "is missing");
  Parameters function(*member, object.path_of("function"));
  NamedTool read{function.required_text("name"), function.path_of("name")};
  function.finish();
  return read;
}

void read_chosen_tools(Parameters& choice, ModelRequest& call) {
  if (choice.required_text("type") != "allowed_tools") {
    call.options.tool_choice = ToolChoice{ToolChoice::Kind::named, read_named_function(choice).name};
    return;
  }
  const auto* member = choice.object("allowed_tools");
  if (!member) throw bad_parameter(choice.path_of("allowed_tools"), "is missing");
  Parameters allowed(*member, choice.path_of("allowed_tools"));
  read_allowed_tools(allowed, call, read_named_function);
  allowed.finish();
}

void read_response_format(Parameters& body, CallOptions& options) {
  const auto* object = body.object("response_format");
  if (!object) return;
  Parameters format(*object, body.path_of("response_format"));
  const auto type = format.required_text("type");
  if (type == "text") return format.finish();
  auto& read = options.response_format.emplace();
  if (type == "json_object") return format.finish();
  if (type != "json_schema") throw bad_parameter(format.path_of("type"), "must be text, json_object or json_schema");
  const auto* member = format.object("json_schema");
  if (!member) throw bad_parameter(format.path_of("json_schema"), "is missing");
  Parameters schema(*member, format.path_of("json_schema"));
  read_answer_schema(schema, read);
  format.finish();
}

void read_stop(Parameters& body, CallOptions& options) {
  constexpr std::size_t max_stop = 16;
  const auto* value = body.find("stop");
  if (!value) return;
  if (value->is_string()) {
    options.stop = {std::string(value->get_string())};
    return;
  }
  for (const auto& text : *body.array("stop", max_stop)) {
    if (!text.is_string()) throw bad_parameter("stop", "must be a string or an array of strings");
    options.stop.emplace_back(text.get_string());
  }
}

void read_reasoning(Parameters& body, CallOptions& options) {
  options.reasoning_effort = read_effort(body, "reasoning_effort");
  const auto* object = body.object("reasoning");
  if (!object) return;
  Parameters reasoning(*object, "reasoning");
  if (const auto effort = read_effort(reasoning, "effort")) options.reasoning_effort = effort;
  options.reasoning_budget = reasoning.integer("max_tokens", 0, max_token_count);
  options.reasoning_summary = reasoning.text("summary").value_or("");
  if (!reasoning.flag("enabled").value_or(true)) options.reasoning_effort = "none";
  if (reasoning.flag("exclude").value_or(false))
    throw bad_parameter("reasoning.exclude", "is not possible", "unsupported_value");
  reasoning.finish();
}

/// What servers of open models call it.
void read_thinking_switches(Parameters& body, CallOptions& options) {
  auto thinks = body.flag("enable_thinking");
  if (const auto budget = body.integer("thinking_budget", 0, max_token_count)) options.reasoning_budget = budget;
  if (const auto* object = body.object("thinking")) {
    Parameters thinking(*object, "thinking");
    thinks = thinking.required_text("type") != "disabled";
    if (const auto budget = thinking.integer("budget_tokens", 0, max_token_count)) options.reasoning_budget = budget;
  }
  if (const auto* object = body.object("chat_template_kwargs")) {
    Parameters arguments(*object, "chat_template_kwargs");
    for (const auto* name : {"enable_thinking", "thinking"}) {
      if (const auto flag = arguments.flag(name)) thinks = flag;
    }
  }
  if (thinks == false) options.reasoning_effort = "none";
  for (const auto name : thinking_labels) {
    const auto* value = body.find(name);
    if (!value) continue;
    options.labels[name] = *value;
    options.thinks_if_able = true;
  }
}

void read_sampling(Parameters& body, CallOptions& options) {
  constexpr double max = 100;
  options.top_p = body.number("top_p", 0, 1);
  options.top_k = body.integer("top_k", -1, max_token_count);
  options.seed =
      body.integer("seed", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  options.frequency_penalty = body.number("frequency_penalty", -max_penalty, max_penalty);
  options.presence_penalty = body.number("presence_penalty", -max_penalty, max_penalty);
  for (const auto& label : sampling_labels) {
    if (body.number(label.name, -max, max)) options.labels[label.name] = *body.find(label.name);
  }
}

void read_limit(Parameters& body, ModelRequest& call) {
  call.options.limits_output = false;
  for (const auto* name : {"max_tokens", "max_completion_tokens"}) {
    const auto* value = body.find(name);
    // At servers of open models, -1 is no limit.
    if (!value || *value == -1) continue;
    call.max_output_tokens = *body.integer(name, 1, max_token_count);
    call.options.limits_output = true;
  }
}

/// Rejects values that the gateway does not support.
void reject_unsupported_values(Parameters& body) {
  if (body.integer("n", std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())
          .value_or(1) != 1)
    throw bad_parameter("n", "only one answer is possible", "unsupported_value");
  if (body.flag("logprobs").value_or(false))
    throw bad_parameter("logprobs", "is not possible", "unsupported_parameter");
  if (body.integer("top_logprobs", 0, 20).value_or(0) != 0)
    throw bad_parameter("top_logprobs", "is not possible", "unsupported_parameter");
  if (const auto* bias = body.object("logit_bias"); bias && !bias->empty())
    throw bad_parameter("logit_bias", "is not possible", "unsupported_parameter");
  if (const auto* modalities = body.array("modalities", 8); modalities && *modalities != json::array{"text"})
    throw bad_parameter("modalities", "must be [\"text\"]", "unsupported_value");
}

}  // namespace

ChatCompletion read_chat_completion(const json::object& object) {
  Parameters body(object);
  ChatCompletion read;
  auto& [request, includes_usage] = read;
  auto& options = request.call.options;
  request.model = body.required_text("model");
  reject_unsupported_values(body);
  request.wants_storing = body.flag("store").value_or(false);
  const auto* messages = body.array("messages", max_client_messages);
  if (!messages || messages->empty()) throw bad_parameter("messages", "must be an array with at least one message");
  ChatMessages(request).read(*messages);
  read_tools(body, request.call);
  read_tool_choice(body, request.call, read_chosen_tools);
  check_tool_choice(request.call);
  options.parallel_tool_calls = body.flag("parallel_tool_calls");
  read_response_format(body, options);
  read_stop(body, options);
  read_reasoning(body, options);
  read_thinking_switches(body, options);
  options.verbosity = read_verbosity(body);
  read_limit(body, request.call);
  request.call.temperature = body.number("temperature", 0, 2);
  read_sampling(body, options);
  request.stream = body.flag("stream").value_or(false);
  if (const auto* stream_options = body.object("stream_options")) {
    Parameters chosen(*stream_options, "stream_options");
    includes_usage = chosen.flag("include_usage").value_or(false);
    refuse_obfuscation(chosen);
    chosen.finish();
  }
  if (const auto* metadata = body.object("metadata"))
    request.thread_id = Parameters(*metadata, "metadata").text("thread_id");
  read_labels(body, options);
  finish_part(body, options);
  return read;
}

}  // namespace agw
