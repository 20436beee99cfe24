// OpenAI's Responses API. The file has three parts, in this order: the request, built from a ModelRequest; the reader,
// which turns the frames of the response into deltas and an outcome; and the format, which combines the two
// (wire_format.hpp). The service stores nothing: reasoning arrives encrypted and is sent back with its turn.

#include <algorithm>
#include <map>
#include <utility>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "models/adjustments.hpp"
#include "models/call_features.hpp"
#include "models/json_reader.hpp"
#include "models/picture.hpp"
#include "models/tool_schema.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

constexpr std::size_t max_call_id_size = 64;

json::object responses_picture(const Image& image) {
  if (image.mime == pdf_mime)
    return {{"type", "input_file"}, {"filename", "document.pdf"}, {"file_data", data_url(image)}};
  json::object made{{"type", "input_image"}, {"image_url", data_url(image)}};
  if (!image.detail.empty()) made["detail"] = image.detail;
  return made;
}

json::value responses_user_content(const Message& message) {
  if (message.images.empty()) return json::string(message.text);
  json::array content;
  for (const auto& part : parts_of(message)) {
    if (const auto* text = std::get_if<std::string_view>(&part)) {
      content.push_back(json::object{{"type", "input_text"}, {"text", *text}});
    } else {
      content.push_back(responses_picture(*std::get<1>(part)));
    }
  }
  return content;
}

/// The service's own tool search, executed by the client:
/// https://developers.openai.com/api/docs/guides/tools-tool-search
json::object search_call(const ToolUse& use) {
  return {{"type", "tool_search_call"},
          {"call_id", use.id},
          {"execution", "client"},
          {"status", "completed"},
          {"arguments", use.input}};
}

void add_assistant(json::array& input, const Message& message, bool with_blocks, bool loads_tools) {
  if (with_blocks) {
    for (const auto& item : message.provider_blocks) {
      if (item.is_object() && text_member(item.get_object(), "type") == "reasoning") input.push_back(item);
    }
  }
  if (!message.text.empty()) {
    json::object text{{"role", "assistant"}, {"content", message.text}};
    if (!message.phase.empty()) text["phase"] = message.phase;
    input.push_back(std::move(text));
  }
  for (const auto& use : message.tool_uses) {
    if (loads_tools && use.name == find_tools_name) {
      input.push_back(search_call(use));
      continue;
    }
    input.push_back(json::object{
        {"type", "function_call"}, {"call_id", use.id}, {"name", use.name}, {"arguments", arguments_for_service(use)}});
  }
}

json::object function_tool(const ToolDescription& tool) {
  return {{"type", "function"},
          {"name", tool.name},
          {"description", description_with_examples(tool)},
          {"parameters", *tool.input_schema},
          {"strict", tool.strict.value_or(false)}};
}

json::array tools_of(const std::vector<ToolDescription>& descriptions) {
  json::array tools;
  for (const auto& tool : descriptions) tools.push_back(function_tool(tool));
  return tools;
}

/// FindTools in the service's form. Tools that the conversation has found are defined in the result that found them.
json::array tools_with_search(const ModelRequest& request) {
  json::array tools;
  for (const auto* tool : tools_to_define(request)) {
    if (tool->name != find_tools_name) {
      tools.push_back(function_tool(*tool));
      continue;
    }
    tools.push_back(json::object{{"type", "tool_search"},
                                 {"execution", "client"},
                                 {"description", tool->description},
                                 {"parameters", *tool->input_schema}});
  }
  return tools;
}

json::value responses_tool_choice(const ToolChoice& choice) {
  switch (choice.kind) {
    case ToolChoice::Kind::none:
      return "none";
    case ToolChoice::Kind::required:
      return "required";
    case ToolChoice::Kind::named:
      return json::object{{"type", "function"}, {"name", choice.name}};
    case ToolChoice::Kind::automatic:
      break;
  }
  return "auto";
}

json::object responses_text_format(const ResponseFormat& format) {
  if (format.kind == ResponseFormat::Kind::json_object) return {{"type", "json_object"}};
  json::object made{{"type", "json_schema"}, {"name", format.name}, {"schema", format.schema}};
  if (!format.description.empty()) made["description"] = format.description;
  if (format.strict) made["strict"] = *format.strict;
  return made;
}

json::object search_output(const Message& message, const DeferredTools& deferred) {
  json::array tools;
  for (const auto* tool : referenced_tools(message, deferred)) {
    tools.push_back(function_tool(*tool));
    tools.back().get_object()["defer_loading"] = true;
  }
  return {{"type", "tool_search_output"},
          {"call_id", message.tool_call_id},
          {"execution", "client"},
          {"status", "completed"},
          {"tools", std::move(tools)}};
}

/// gpt-5.4 and later.
bool loads_deferred_tools(std::string_view base_url, std::string_view model) {
  if (!is_openai_service(base_url) || !model.starts_with("gpt-")) return false;
  const auto version = model.substr(4);
  if (version.empty() || version[0] < '5' || version[0] > '9') return false;
  if (version[0] > '5') return true;
  return version.size() > 2 && version[1] == '.' && version[2] >= '4' && version[2] <= '9';
}

/// For models that reject the service's tool search: FindTools becomes an ordinary tool, and its results become texts.
bool search_as_function(json::object& request) {
  auto* tools = request.if_contains("tools");
  if (!tools || !tools->is_array()) return false;
  bool has_search = false;
  for (auto& tool : tools->get_array()) {
    auto& members = tool.get_object();
    if (text_member(members, "type") != "tool_search") continue;
    members["type"] = "function";
    members["name"] = find_tools_name;
    members["strict"] = false;
    members.erase("execution");
    has_search = true;
  }
  if (!has_search) return false;
  json::array found;
  for (auto& item : request["input"].as_array()) {
    auto& members = item.get_object();
    if (text_member(members, "type") == "tool_search_call") {
      members = {{"type", "function_call"},
                 {"call_id", members["call_id"]},
                 {"name", find_tools_name},
                 {"arguments", to_json(members["arguments"])}};
    } else if (text_member(members, "type") == "tool_search_output") {
      for (auto& tool : members["tools"].as_array()) {
        tool.get_object().erase("defer_loading");
        found.push_back(tool);
      }
      members = {
          {"type", "function_call_output"}, {"call_id", members["call_id"]}, {"output", to_json(members["tools"])}};
    }
  }
  for (auto& tool : found) tools->get_array().push_back(std::move(tool));
  return true;
}

/// A model that cannot reason works without the member.
bool remove_effort_none(json::object& request) {
  auto* reasoning = request.if_contains("reasoning");
  auto* effort = reasoning && reasoning->is_object() ? reasoning->get_object().if_contains("effort") : nullptr;
  if (!effort || *effort != "none") return false;
  reasoning->get_object().erase("effort");
  if (reasoning->get_object().empty()) request.erase("reasoning");
  return true;
}

/// Only reasoning models accept `reasoning` and `include`; others reject the request.
bool reasons(std::string_view model) {
  const bool numbered = model.starts_with("gpt-") && model.size() > 4 && model[4] >= '5' && model[4] <= '9';
  const bool o_series = model.size() > 1 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9';
  return numbered || o_series;
}

class ResponsesReader : public AnswerReader {
public:
  using AnswerReader::AnswerReader;

private:
  enum class Source { pieces, parts, items, response };

  void read_object(std::string_view, const json::object& frame) override {
    const auto type = text_member(frame, "type");
    if (type == "response.output_text.delta" || type == "response.refusal.delta") {
      return add_text(Source::pieces, index_of(frame), text_member(frame, "delta"));
    }
    if (type == "response.output_text.done") {
      return add_text(Source::parts, index_of(frame), text_member(frame, "text"));
    }
    if (type == "response.refusal.done") {
      return add_text(Source::parts, index_of(frame), text_member(frame, "refusal"));
    }
    if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
      return reasoning(text_member(frame, "delta"));
    }
    if (type == "response.reasoning_summary_part.added") return separate_summaries(frame);
    if (type == "response.function_call_arguments.delta") {
      return calls_.add_arguments(index_of(frame), text_member(frame, "delta"));
    }
    if (type == "response.function_call_arguments.done") {
      return calls_.set_arguments(index_of(frame), text_member(frame, "arguments"));
    }
    if (type == "response.output_item.added") return begin_item(frame);
    if (type == "response.output_item.done") return end_item(frame);
    if (type == "error") return fail(read_provider_error(json::value(frame)));
    const auto* response = object_member(frame, "response");
    if (!response && text_member(frame, "object") == "response") response = &frame;
    if (response) read_response(type, *response);
  }

  static std::int64_t index_of(const json::object& frame) { return count_member(frame, "output_index").value_or(0); }

  /// Messages are paragraphs of the answer. The same text arrives up to four times, but not every server sends all of
  /// them. Only the first source is used.
  void add_text(Source source, std::int64_t index, std::string_view piece) {
    if (piece.empty()) return;
    if (!wrote_text()) source_ = source;
    if (source != source_) return;
    if (wrote_text() && index != written_) text("\n\n");
    written_ = index;
    text(piece);
  }

  /// The parts of a summary are paragraphs.
  void separate_summaries(const json::object& frame) {
    if (count_member(frame, "summary_index").value_or(0) > 0) reasoning("\n\n");
  }

  void begin_item(const json::object& frame) {
    const auto* item = object_member(frame, "item");
    if (item && text_member(*item, "type") == "function_call") {
      calls_.add(index_of(frame), text_member(*item, "call_id"), text_member(*item, "name"), {});
    }
  }

  void end_item(const json::object& frame) {
    const auto* item = object_member(frame, "item");
    if (!item) return;
    take_item(index_of(frame), *item);
    if (text_member(*item, "type") == "reasoning") provider_block(*item);
    text_of_message(Source::items, index_of(frame), *item);
  }

  /// Reads the complete item, which repeats its pieces. Some servers number the items differently at the end.
  void take_item(std::int64_t index, const json::object& item) {
    const auto type = text_member(item, "type");
    if (type == "reasoning") take_reasoning(index, item);
    if (type == "function_call") {
      calls_.put(index, text_member(item, "call_id"), text_member(item, "name"), text_member(item, "arguments"));
    }
    // The service executes its own search; only a search for the client is a call for us.
    if (type == "tool_search_call" && text_member(item, "execution") == "client") {
      calls_.put(index, text_member(item, "call_id"), find_tools_name, text_or_json(item, "arguments"));
    }
  }

  void take_reasoning(std::int64_t index, const json::object& item) {
    const auto id = text_member(item, "id");
    const auto known = std::ranges::find_if(
        reasoning_items_, [&](const auto& entry) { return !id.empty() && text_member(entry.second, "id") == id; });
    (known == reasoning_items_.end() ? reasoning_items_[index] : known->second) = item;
  }

  void read_response(std::string_view type, const json::object& response) {
    // Until the response is complete, it repeats the requested tier.
    if (type != "response.created" && type != "response.in_progress" && type != "response.queued")
      service_tier(text_member(response, "service_tier"));
    if (const auto* usage = object_member(response, "usage")) take_usage(*usage);
    const auto status = text_member(response, "status");
    if (type == "response.failed" || status == "failed") return take_failure(response);
    if (type == "response.incomplete" || status == "incomplete") return take_incomplete(response);
    if (type == "response.completed" || status == "completed") take_output(response);
  }

  void take_usage(const json::object& counted) {
    auto& usage = reply_.usage;
    if (const auto* details = object_member(counted, "input_tokens_details")) {
      usage.cache_read_tokens = count_member(*details, "cached_tokens").value_or(0);
      usage.cache_write_tokens = count_member(*details, "cache_write_tokens").value_or(0);
    }
    const auto input = count_member(counted, "input_tokens").value_or(0);
    usage.input_tokens = std::max<std::int64_t>(0, input - usage.cache_read_tokens - usage.cache_write_tokens);
    usage.output_tokens = count_member(counted, "output_tokens").value_or(0);
    if (const auto* details = object_member(counted, "output_tokens_details")) {
      usage.reasoning_tokens = count_member(*details, "reasoning_tokens").value_or(0);
    }
  }

  void take_failure(const json::object& response) {
    const auto* error = response.if_contains("error");
    fail(error && !error->is_null() ? read_provider_error(*error) : ProviderError{"the response failed", {}, 0});
  }

  void take_incomplete(const json::object& response) {
    const auto* details = object_member(response, "incomplete_details");
    const bool filtered = details && text_member(*details, "reason") == "content_filter";
    reply_.stop = filtered ? StopReason::content_filter : StopReason::length;
    take_output(response);
  }

  void take_output(const json::object& response) {
    complete_ = ended_ = true;
    const auto* output = array_member(response, "output");
    if (!output) return;
    for (std::int64_t index = 0; const auto& item : *output) {
      const auto* object = item.if_object();
      if (object) take_item(index, *object);
      if (object) text_of_message(Source::response, index, *object);
      ++index;
    }
  }

  void text_of_message(Source source, std::int64_t index, const json::object& item) {
    const auto* content = array_member(item, "content");
    if (!content || text_member(item, "type") != "message") return;
    for (const auto& part : *content) {
      if (const auto* object = part.if_object()) {
        add_text(source, index, text_member(*object, "text"));
        add_text(source, index, text_member(*object, "refusal"));
      }
    }
  }

  void finish() override {
    for (auto& [index, item] : reasoning_items_) reply_.provider_blocks.push_back(std::move(item));
  }

  std::map<std::int64_t, json::object> reasoning_items_;
  Source source_{};           ///< of the text, once some has arrived
  std::int64_t written_ = 0;  ///< the item whose text arrived last
};

class ResponsesFormat : public WireFormat {
public:
  explicit ResponsesFormat(ProviderSettings settings) : settings_(std::move(settings)) {}

  std::string url(std::string_view model) const override {
    return service_url(settings_.base_url, "/responses", model);
  }

  std::vector<HttpHeader> headers() const override {
    if (settings_.api_key.empty()) return {};
    return {{"authorization", "Bearer " + settings_.api_key}};
  }

  json::object request(const ModelRequest& request) const override {
    json::object body{{"model", request.model}, {"stream", true}, {"store", false}};
    if (request.options.limits_output) body["max_output_tokens"] = request.max_output_tokens;
    if (!request.system.empty()) body["instructions"] = request.system;
    if (request.temperature) body["temperature"] = *request.temperature;
    if (!request.thread_id.empty()) body["prompt_cache_key"] = request.thread_id;
    if (reasons(request.model)) {
      body["include"] = json::array{"reasoning.encrypted_content"};
      const auto& summary = request.options.reasoning_summary;
      body["reasoning"] = json::object{{"summary", summary.empty() ? "auto" : summary}};
    }
    if (!request.tools.empty())
      body["tools"] = loads_tools(request) ? tools_with_search(request) : tools_of(request.tools);
    add_options(body, request.options);
    body["input"] = input(request);
    return body;
  }

  bool adjust(json::object& request, const ProviderError& error) const override {
    const std::pair<std::string_view, std::string_view> removable[] = {
        {"temperature", "temperature"},
        {"top_p", "top_p"},
        {"ncrypted content", "include"},
        {"encrypted_content", "include"},
        {"reasoning.summary", "reasoning"},
        {"reasoning summar", "reasoning"},
        {"prompt_cache_key", "prompt_cache_key"},
        {"prompt_cache_retention", "prompt_cache_retention"},
        {"safety_identifier", "safety_identifier"},
        {"metadata", "metadata"},
        {"user", "user"},
    };
    if (error.mentions("nvalid schema") && mend_schemas(request, "parameters", error.message)) return true;
    if (error.mentions("string too long") && error.mentions("call_id")) return shorten_ids(request, max_call_id_size);
    if (error.mentions("description") && shorten_descriptions(request, error.message)) return true;
    if (error.mentions({"file", "PDF"}) && leave_out_documents(request)) return true;
    if (error.mentions("reasoning") && remove_effort_none(request)) return true;
    if (error.mentions({"tool_search", "defer_loading"})) return search_as_function(request);
    if (error.mentions({"developer", "ystem"}) && remind_as_user(request["input"].get_array())) return true;
    for (const auto& [word, member] : removable) {
      if (error.mentions(word) && request.erase(member) > 0) return true;
    }
    return false;
  }

  std::unique_ptr<AnswerReader> reader(const OnDelta& on_delta) const override {
    return std::make_unique<ResponsesReader>(on_delta);
  }

private:
  static void add_options(json::object& body, const CallOptions& options) {
    const bool has_tools = body.contains("tools");
    if (options.tool_choice && has_tools) body["tool_choice"] = responses_tool_choice(*options.tool_choice);
    if (options.parallel_tool_calls && has_tools) body["parallel_tool_calls"] = *options.parallel_tool_calls;
    if (options.response_format) {
      body["text"] = json::object{{"format", responses_text_format(*options.response_format)}};
    }
    if (!options.verbosity.empty()) {
      auto& text = body["text"];
      if (!text.is_object()) text.emplace_object();
      text.get_object()["verbosity"] = options.verbosity;
    }
    if (options.top_p) body["top_p"] = *options.top_p;
    add_labels(body, options);
    for (const auto name : thinking_labels) body.erase(name);
    for (const auto& label : sampling_labels) body.erase(label.name);
    if (const auto effort = reasoning_effort(options)) {
      auto& reasoning = body["reasoning"];
      if (!reasoning.is_object()) reasoning.emplace_object();
      reasoning.get_object()["effort"] = *effort;
    }
  }

  bool loads_tools(const ModelRequest& request) const {
    const bool has_search = contains(request.tools, find_tools_name, &ToolDescription::name);
    return request.deferred_tools && has_search && loads_deferred_tools(settings_.base_url, request.model);
  }

  json::array input(const ModelRequest& request) const {
    json::array input;
    for (const auto& message : request.messages) {
      switch (message.role) {
        case Message::Role::user:
          input.push_back(json::object{{"role", "user"}, {"content", responses_user_content(message)}});
          break;
        case Message::Role::system:
          input.push_back(json::object{{"role", "developer"}, {"content", message.text}});
          break;
        case Message::Role::assistant:
          if (says_nothing(message)) break;
          add_assistant(input, message, can_resend_blocks(message, settings_.name, request.model),
                        loads_tools(request));
          break;
        case Message::Role::tool:
          if (loads_tools(request) && message.tool_name == find_tools_name) {
            input.push_back(search_output(message, request.deferred_tools));
            break;
          }
          input.push_back(json::object{
              {"type", "function_call_output"}, {"call_id", message.tool_call_id}, {"output", result_text(message)}});
      }
    }
    return input;
  }

  ProviderSettings settings_;
};

}  // namespace

std::unique_ptr<WireFormat> openai_responses_format(ProviderSettings settings) {
  return std::make_unique<ResponsesFormat>(complete(std::move(settings)));
}

}  // namespace agw
