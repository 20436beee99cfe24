// Reads OpenAI's Responses. `InputItems` reads the conversation: consecutive reasoning, text and calls become one
// answer, as the gateway stores it. The rest reads the settings. Parameters that the gateway does not support are
// rejected by name. `shown_members` repeats the request in the response, as the API requires.
//
// response_tools.cpp reads the tools, and response_writer.cpp writes the responses. docs/contract/clients.md has the
// table of accepted members.

#include "features/client_api/responses.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/containers.hpp"
#include "features/client_api/anthropic_blocks.hpp"
#include "features/client_api/compaction.hpp"
#include "features/client_api/instructions.hpp"
#include "features/client_api/parameters.hpp"
#include "features/client_api/pictures.hpp"
#include "features/client_api/response_tools.hpp"
#include "features/client_api/shared_parameters.hpp"
#include "features/client_api/tool_parameters.hpp"
#include "models/tool_calls.hpp"

namespace agw {

namespace {

constexpr std::size_t max_item_parts = 1'000;
constexpr std::string_view encrypted_reasoning = "reasoning.encrypted_content";

class InputItems {
public:
  explicit InputItems(ClientRequest& request) : request_(request), call_(request.call) {}

  void read(const json::array& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto path = fmt::format("input[{}]", i);
      read_item(object_at(items[i], path), path);
    }
    if (!items.empty()) ask_lone_instructions(call_);
  }

private:
  void read_item(const json::object& object, const std::string& path) {
    Parameters item(object, path);
    const auto type = item.text("type").value_or("message");
    item.ignore({"id", "status", "internal_chat_message_metadata_passthrough"});
    if (type == "message") {
      read_message(item);
    } else if (type == "function_call" || type == "custom_tool_call") {
      read_call(item, type == "custom_tool_call");
    } else if (type == "function_call_output" || type == "custom_tool_call_output") {
      read_result(item);
    } else if (type == "tool_search_call") {
      const auto* arguments = item.object("arguments");
      add_call({.id = item.required_text("call_id"),
                .name = std::string(tool_search_name),
                .input = arguments ? *arguments : json::object()});
      item.ignore({"execution", "created_by"});
    } else if (type == "tool_search_output") {
      const auto* tools = item.array("tools", max_client_tools);
      add_result(item).text = tools ? found_tools_text(*tools) : std::string();
      item.ignore({"execution", "created_by"});
    } else if (type == "additional_tools") {
      item.array("tools", max_client_tools);  // see tools_of
      item.ignore({"role"});
    } else if (type == "compaction") {
      call_.messages.push_back(
          {.text = compacted_text(item.required_text("encrypted_content"), item.path_of("encrypted_content"))});
      item.ignore({"created_by"});
    } else if (type == "reasoning") {
      read_reasoning_item(item, object);
    } else {
      throw bad_parameter(
          item.path_of("type"),
          "must be message, function_call, function_call_output, custom_tool_call, custom_tool_call_output, "
          "tool_search_call, tool_search_output, additional_tools, compaction, reasoning or item_reference");
    }
    item.finish();
  }

  /// Ignores reasoning without `encrypted_content`, which is only for the program.
  void read_reasoning_item(Parameters& item, const json::object& object) {
    item.ignore({"summary", "content"});
    const auto encrypted = item.text("encrypted_content").value_or("");
    if (encrypted.empty()) return;
    auto ours = from_signature(encrypted);
    const bool follows_answer = ours && is_reported_at_end(ours->blocks);
    auto& message = follows_answer ? last_answer() : open_answer();
    auto read = ours ? std::move(*ours) : ServiceBlocks{request_.model, {object}};
    std::ranges::move(read.blocks, std::back_inserter(message.provider_blocks));
    message.provider_blocks_of = std::move(read.model);
  }

  /// Whether services report such blocks only when the text and the calls of the answer are complete, so that their
  /// item follows those of the answer.
  static bool is_reported_at_end(const json::array& blocks) {
    return std::ranges::none_of(blocks, [](const json::value& block) {
      return is_thinking_block(block) ||
             (block.is_object() && string_or_empty(block.get_object(), "type") == "reasoning");
    });
  }

  /// The answer of the preceding items, complete or not.
  Message& last_answer() {
    auto& messages = call_.messages;
    if (messages.empty() || messages.back().role != Message::Role::assistant)
      messages.push_back({.role = Message::Role::assistant});
    return messages.back();
  }

  /// The answer of the preceding items; a new one if that already has text or calls, because reasoning comes first.
  Message& open_answer() {
    auto& messages = call_.messages;
    const bool is_open = !messages.empty() && messages.back().role == Message::Role::assistant &&
                         messages.back().text.empty() && messages.back().tool_uses.empty();
    if (!is_open) messages.push_back({.role = Message::Role::assistant});
    return messages.back();
  }

  void read_message(Parameters& item) {
    const auto role = item.required_text("role");
    if (role == "system" || role == "developer") {
      Message message;
      read_content(item, "content", message, false);
      add_instructions(call_, message.text);
    } else if (role == "user" || role == "assistant") {
      auto& message = role == "user" ? call_.messages.emplace_back() : open_answer();
      read_content(item, "content", message);
      if (role == "assistant") message.phase = read_phase(item);
    } else {
      throw bad_parameter(item.path_of("role"), "must be system, developer, user or assistant");
    }
  }

  static std::string read_phase(Parameters& item) {
    auto phase = item.text("phase").value_or("");
    if (!phase.empty() && phase != "commentary" && phase != "final_answer")
      throw bad_parameter(item.path_of("phase"), "must be commentary or final_answer");
    return phase;
  }

  void read_content(Parameters& item, std::string_view name, Message& message, bool takes_pictures = true) {
    const auto path = item.path_of(name);
    const auto* content = item.find(name);
    if (!content) throw bad_parameter(path, "is missing");
    if (content->is_string()) {
      message.text = content->get_string();
      return;
    }
    const auto* parts = item.array(name, max_item_parts);
    for (std::size_t i = 0; i < parts->size(); ++i) {
      const auto at = fmt::format("{}[{}]", path, i);
      Parameters part(object_at((*parts)[i], at), at);
      const auto type = part.required_text("type");
      if (type == "input_text" || type == "output_text" || type == "text") {
        add_text_part(message.text, part.text("text").value_or(""));
        part.ignore({"annotations", "logprobs"});
      } else if (type == "refusal") {
        add_text_part(message.text, part.text("refusal").value_or(""));
      } else if (type == "input_image") {
        if (!takes_pictures) throw bad_parameter(part.path_of("type"), "only text is possible here");
        read_picture(part, message);
      } else if (type == "input_file" && takes_pictures) {
        check_takes_pictures(part, message);
        add_pdf(request_, pdf_in(part.required_text("file_data"), part.path_of("file_data")));
        part.ignore({"filename", "detail"});
      } else {
        throw bad_parameter(part.path_of("type"),
                            "must be input_text, output_text, refusal, input_image or input_file");
      }
      finish_part(part, call_.options);
    }
  }

  void check_takes_pictures(Parameters& part, const Message& message) const {
    const bool is_possible = !call_.messages.empty() && &message == &call_.messages.back();
    if (!is_possible || message.role == Message::Role::assistant)
      throw bad_parameter(part.path_of("type"), "only text is possible here");
  }

  void read_picture(Parameters& part, const Message& message) {
    check_takes_pictures(part, message);
    const auto url = part.required_text("image_url");
    add_picture(request_, url, picture_detail(part), part.path_of("image_url"));
  }

  void read_call(Parameters& item, bool is_free_text) {
    ToolUse use{.id = item.required_text("call_id"), .name = item.required_text("name"), .input = {}};
    use.name = name_in_namespace(item.text("namespace").value_or(""), use.name);
    check_tool_name(use.name, item.path_of("name"));
    const auto arguments = item.text(is_free_text ? "input" : "arguments").value_or("");
    if (is_free_text) {
      use.input = {{free_text_argument, arguments}};
    } else {
      set_arguments_of(use, arguments);
    }
    add_call(std::move(use));
  }

  void add_call(ToolUse use) {
    names_[use.id] = use.name;
    last_answer().tool_uses.push_back(std::move(use));
  }

  void read_result(Parameters& item) { read_content(item, "output", add_result(item)); }

  Message& add_result(Parameters& item) {
    const auto id = item.required_text("call_id");
    const auto name = names_.find(id);
    auto& message = call_.messages.emplace_back();
    message.role = Message::Role::tool;
    message.tool_call_id = id;
    if (name != names_.end()) message.tool_name = name->second;
    return message;
  }

  ClientRequest& request_;
  ModelRequest& call_;
  std::map<std::string, std::string, std::less<>> names_;  ///< of the tools that were called, by the call's id
};

json::array items_of(Parameters& body) {
  const auto* input = body.find("input");
  if (!input) return {};
  if (input->is_string()) {
    return {json::object{{"type", "message"},
                         {"role", "user"},
                         {"content", json::array{json::object{{"type", "input_text"}, {"text", *input}}}}}};
  }
  return *body.array("input", max_client_messages);
}

void read_text_format(Parameters& body, CallOptions& options) {
  const auto* text = body.object("text");
  if (!text) return;
  Parameters chosen(*text, "text");
  options.verbosity = read_verbosity(chosen);
  const auto* object = chosen.object("format");
  chosen.finish();
  if (!object) return;
  Parameters format(*object, "text.format");
  const auto type = format.required_text("type");
  if (type == "text") return format.finish();
  auto& read = options.response_format.emplace();
  if (type == "json_object") return format.finish();
  if (type != "json_schema") throw bad_parameter("text.format.type", "must be text, json_object or json_schema");
  read_answer_schema(format, read);
}

void read_settings(Parameters& body, ModelRequest& call) {
  auto& options = call.options;
  options.parallel_tool_calls = body.flag("parallel_tool_calls");
  const auto limit = body.integer("max_output_tokens", 1, max_token_count);
  options.limits_output = limit.has_value();
  if (limit) call.max_output_tokens = *limit;
  call.temperature = body.number("temperature", 0, 2);
  options.top_p = body.number("top_p", 0, 1);
  options.frequency_penalty = body.number("frequency_penalty", -2, 2);
  options.presence_penalty = body.number("presence_penalty", -2, 2);
  if (const auto* object = body.object("reasoning")) {
    Parameters reasoning(*object, "reasoning");
    options.reasoning_effort = read_effort(reasoning, "effort");
    const auto summary = reasoning.text("summary");
    options.reasoning_summary = summary ? *summary : reasoning.text("generate_summary").value_or("");
    reasoning.ignore({"generate_summary", "context"});
    reasoning.finish();
  }
}

void reject_unsupported(Parameters& body) {
  const auto refuse = [](const char* param, const char* why) { throw bad_parameter(param, why, "unsupported_value"); };
  if (body.flag("background").value_or(false)) refuse("background", "is not possible: stream the answer instead");
  if (body.integer("top_logprobs", 0, 20).value_or(0) != 0) refuse("top_logprobs", "is not possible");
  if (body.find("max_tool_calls")) refuse("max_tool_calls", "is not possible");
  if (body.find("prompt")) refuse("prompt", "is not possible: send instructions");
  if (body.text("truncation").value_or("disabled") != "disabled") refuse("truncation", "must be disabled");
  if (const auto* object = body.object("stream_options")) {
    Parameters chosen(*object, "stream_options");
    refuse_obfuscation(chosen);
    chosen.finish();
  }
}

/// Whether the program requests the reasoning data that the model's service requires back.
bool includes_encrypted_reasoning(Parameters& body) {
  const auto* members = body.array("include", 16);
  for (std::size_t i = 0; members && i < members->size(); ++i) {
    if ((*members)[i] != json::value(encrypted_reasoning))
      throw bad_parameter(fmt::format("include[{}]", i), fmt::format("only {} is possible", encrypted_reasoning),
                          "unsupported_value");
  }
  return members && !members->empty();
}

/// The thread that the request names, by its conversation or its metadata.
void read_thread(Parameters& body, ClientRequest& request) {
  if (const auto* conversation = body.find("conversation")) {
    request.thread_id = conversation->is_object()
                            ? Parameters(conversation->get_object(), "conversation").required_text("id")
                            : body.required_text("conversation");
    request.thread_param = "conversation";
  }
  if (const auto* metadata = body.object("metadata")) {
    if (const auto thread = Parameters(*metadata, "metadata").text("thread_id")) {
      request.thread_id = thread;
      request.thread_param = "metadata.thread_id";
    }
  }
}

void add_missing(json::object& object, const json::object& members) {
  for (const auto& [name, value] : members) {
    auto& member = object[name];
    if (member.is_null()) member = value;
  }
}

/// The members of a response that repeat the request, with defaults for missing ones.
json::object shown_members(const json::object& body, json::array tools) {
  json::object shown{{"background", false},
                     {"frequency_penalty", 0.0},
                     {"instructions", nullptr},
                     {"max_output_tokens", nullptr},
                     {"max_tool_calls", nullptr},
                     {"metadata", json::object()},
                     {"parallel_tool_calls", true},
                     {"presence_penalty", 0.0},
                     {"previous_response_id", nullptr},
                     {"prompt_cache_key", nullptr},
                     {"reasoning", json::object{{"effort", nullptr}, {"summary", nullptr}}},
                     {"safety_identifier", nullptr},
                     {"service_tier", "auto"},
                     {"store", true},
                     {"temperature", 1.0},
                     {"text", json::object{{"format", json::object{{"type", "text"}}}}},
                     {"tool_choice", "auto"},
                     {"tools", json::array()},
                     {"top_logprobs", 0},
                     {"top_p", 1.0},
                     {"truncation", "disabled"},
                     {"user", nullptr}};
  for (auto&& member : shown) {
    const auto* sent = body.if_contains(member.key());
    if (sent && !sent->is_null()) member.value() = *sent;
  }
  for (auto& tool : tools) {
    auto& object = tool.get_object();
    if (object.at("type") == "function")
      add_missing(object, {{"strict", false}, {"parameters", nullptr}, {"description", nullptr}});
  }
  shown["tools"] = std::move(tools);
  add_missing(shown["reasoning"].get_object(), {{"effort", nullptr}, {"summary", nullptr}});
  auto& text = shown["text"].get_object();
  add_missing(text, {{"format", json::object{{"type", "text"}}}});
  auto& format = text["format"].get_object();
  if (format.at("type") == "json_schema")
    add_missing(format, {{"description", nullptr}, {"schema", nullptr}, {"strict", false}});
  return shown;
}

}  // namespace

void add_input(ClientRequest& request, const json::array& items) { InputItems(request).read(items); }

ResponseRequest read_response_request(const json::object& object) {
  Parameters body(object);
  ResponseRequest read;
  auto& call = read.request.call;
  read.request.model = body.required_text("model");
  read.request.messages_param = "input";
  reject_unsupported(body);
  read.input = items_of(body);
  read.previous = body.text("previous_response_id");
  if (read.input.empty() && !read.previous)
    throw bad_parameter("input", "must be a text, or an array with at least one item");
  call.system = body.text("instructions").value_or("");
  auto tools = tools_of(body, read.input);
  read_response_tools(tools, call);
  read_tool_choice(body, call, read_chosen_response_tools);
  check_tool_choice(call);
  read_text_format(body, call.options);
  read_settings(body, call);
  read.request.stream = body.flag("stream").value_or(false);
  read.stores = body.flag("store").value_or(true);
  read_thread(body, read.request);
  if (read.previous && read.request.thread_id)
    throw bad_parameter(read.request.thread_param, "cannot be combined with previous_response_id");
  read.includes_reasoning = includes_encrypted_reasoning(body);
  read_labels(body, call.options);
  body.ignore({"client_metadata"});
  body.finish();
  read.shown = shown_members(object, std::move(tools));
  return read;
}

}  // namespace agw
