// Reads the conversation of Anthropic's Messages, whose content consists of blocks. A message of the user may contain
// results of tools, each of which becomes a separate message.

#include "features/client_api/anthropic_conversation.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/containers.hpp"
#include "features/client_api/anthropic_blocks.hpp"
#include "features/client_api/instructions.hpp"
#include "features/client_api/parameters.hpp"
#include "features/client_api/pictures.hpp"
#include "features/client_api/shared_parameters.hpp"
#include "features/client_api/tool_parameters.hpp"

namespace agw {

namespace {

constexpr std::size_t max_blocks = 10'000;

/// Calls `read(block, type)` for each block, then checks that the block has no other members.
void for_each_block(const json::array& blocks, const std::string& path, CallOptions& options,
                    const std::function<void(Parameters&, const std::string&)>& read) {
  if (blocks.size() > max_blocks) throw bad_parameter(path, fmt::format("must have at most {} blocks", max_blocks));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto at = fmt::format("{}.{}", path, i);
    Parameters block(object_at(blocks[i], at), at);
    read(block, block.required_text("type"));
    finish_part(block, options);
  }
}

[[noreturn]] void reject_block(Parameters& block, std::string_view type, std::string_view possible) {
  throw bad_parameter(block.path_of("type"), fmt::format("{} is not possible here: must be {}", type, possible),
                      "unsupported_value");
}

const json::value& required_content(Parameters& block) {
  const auto* content = block.find("content");
  if (!content) throw bad_parameter(block.path_of("content"), "is missing");
  return *content;
}

/// Rejects enabled citations, because the gateway's answers do not contain any.
void refuse_citations(Parameters& block) {
  const auto* object = block.object("citations");
  if (!object) return;
  Parameters citations(*object, block.path_of("citations"));
  if (citations.flag("enabled").value_or(false))
    throw bad_parameter(citations.path_of("enabled"), "is not possible", "unsupported_value");
  citations.finish();
}

std::string text_of_search_result(Parameters& block, CallOptions& options) {
  refuse_citations(block);
  std::string text = block.text("title").value_or("");
  add_text_part(text, block.text("source").value_or(""));
  add_text_part(text, anthropic_text(required_content(block), block.path_of("content"), options));
  return text;
}

class ConversationReader {
public:
  explicit ConversationReader(ClientRequest& request)
      : request_(request), messages_(request.call.messages), options_(request.call.options) {}

  std::optional<std::string> read(const json::array& messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto path = fmt::format("messages.{}", i);
      Parameters message(object_at(messages[i], path), path);
      read_message(message);
      message.finish();
    }
    if (messages_.empty()) throw bad_parameter("messages", "must contain a message of the user");
    return std::move(effort_);
  }

private:
  void read_message(Parameters& message) {
    const auto role = message.required_text("role");
    const auto path = message.path_of("content");
    if (role == "system" && reads_effort(message) && !message.find("content")) return;
    const auto& content = required_content(message);
    if (role == "user") {
      read_user(content, path);
    } else if (role == "assistant") {
      read_assistant(content, path);
    } else if (role == "system") {
      add_instructions(request_.call, anthropic_text(content, path, options_));
    } else {
      throw bad_parameter(message.path_of("role"), "must be user, assistant or system");
    }
  }

  /// Whether a system message has its own `output_config`, which may be all that it has.
  bool reads_effort(Parameters& message) {
    const auto* object = message.object("output_config");
    if (!object) return false;
    Parameters config(*object, message.path_of("output_config"));
    if (auto effort = read_anthropic_effort(config)) effort_ = std::move(effort);
    config.finish();
    return true;
  }

  void read_user(const json::value& content, const std::string& path) {
    is_open_ = false;
    if (const auto* text = content.if_string()) return add_text_part(user_message().text, *text);
    for_each_block(array_at(content, path), path, options_, [this](Parameters& block, const std::string& type) {
      if (type == "tool_result") return read_result(block);
      read_part(block, type, [this]() -> Message& { return user_message(); });
    });
  }

  /// The user's message that is being read. Tool results end it, and the next part begins another one.
  Message& user_message() {
    if (!std::exchange(is_open_, true)) messages_.emplace_back();
    return messages_.back();
  }

  static const json::array& array_at(const json::value& value, const std::string& path) {
    if (!value.is_array()) throw bad_parameter(path, "must be a string or an array of blocks");
    return value.get_array();
  }

  /// Reads a text or picture into the user's message or a tool result.
  void read_part(Parameters& block, const std::string& type, const std::function<Message&()>& message) {
    if (type == "text") {
      add_text_part(message().text, block.text("text").value_or(""));
      block.ignore({"citations"});
    } else if (type == "image") {
      read_image(block, message());
    } else if (type == "document") {
      read_document(block, message);
    } else if (type == "search_result") {
      add_text_part(message().text, text_of_search_result(block, options_));
    } else if (type == "tool_reference") {
      const auto name = block.required_text("tool_name");
      if (message().role == Message::Role::tool) message().found_tools.push_back(name);
      add_text_part(message().text, fmt::format("The tool {} can be called.", name));
    } else {
      reject_block(block, type, "text, image, document, search_result or tool_result");
    }
  }

  static Parameters source_of(Parameters& block) {
    const auto* source = block.object("source");
    if (!source) throw bad_parameter(block.path_of("source"), "is missing");
    return Parameters(*source, block.path_of("source"));
  }

  void read_image(Parameters& block, Message& message) {
    block.ignore({"transformations"});
    auto source = source_of(block);
    const auto type = source.required_text("type");
    if (type == "base64") {
      const auto mime = source.required_text("media_type");
      message.images.push_back(picture_of(mime, source.required_text("data"), source.path_of("data")));
      message.images.back().text_before = message.text.size();
    } else if (type == "url") {
      request_.pictures.push_back(
          {messages_.size() - 1, message.images.size(), source.required_text("url"), source.path_of("url")});
      message.images.emplace_back().text_before = message.text.size();
    } else {
      reject_block(source, type, "base64 or url");
    }
    source.finish();
  }

  void read_document(Parameters& block, const std::function<Message&()>& message) {
    refuse_citations(block);
    add_text_part(message().text, block.text("title").value_or(""));
    add_text_part(message().text, block.text("context").value_or(""));
    auto source = source_of(block);
    const auto type = source.required_text("type");
    if (type == "text") {
      add_text_part(message().text, source.required_text("data"));
      source.ignore({"media_type"});
    } else if (type == "content") {
      read_parts(required_content(source), source.path_of("content"), message);
    } else if (type == "base64") {
      message();
      const auto mime = source.required_text("media_type");
      add_pdf(request_, pdf_of(mime, source.required_text("data"), source.path_of("data")));
    } else {
      reject_block(source, type, "base64, text or content");
    }
    source.finish();
  }

  void read_parts(const json::value& content, const std::string& path, const std::function<Message&()>& message) {
    if (const auto* text = content.if_string()) return add_text_part(message().text, *text);
    for_each_block(array_at(content, path), path, options_,
                   [&](Parameters& block, const std::string& type) { read_part(block, type, message); });
  }

  void read_result(Parameters& block) {
    is_open_ = false;
    const auto id = block.required_text("tool_use_id");
    const auto name = names_.find(id);
    if (name == names_.end()) {
      throw bad_parameter(block.path_of("tool_use_id"), "no message before it has a tool_use block with this id");
    }
    messages_.push_back({.role = Message::Role::tool,
                         .tool_call_id = id,
                         .tool_name = name->second,
                         .is_error = block.flag("is_error").value_or(false)});
    block.ignore({"toolset_name"});
    if (const auto* content = block.find("content")) {
      read_parts(*content, block.path_of("content"), [this]() -> Message& { return messages_.back(); });
    }
  }

  void read_assistant(const json::value& content, const std::string& path) {
    Message read{.role = Message::Role::assistant};
    if (const auto* text = content.if_string()) {
      read.text = *text;
    } else {
      for_each_block(array_at(content, path), path, options_, [&](Parameters& block, const std::string& type) {
        block.ignore({"citations"});
        if (type == "text") return add_text_part(read.text, block.text("text").value_or(""));
        if (type == "tool_use") return read.tool_uses.push_back(read_use(block));
        if (type != "thinking" && type != "redacted_thinking") {
          reject_block(block, type, "text, thinking, redacted_thinking or tool_use");
        }
        read_thinking_block(block, type, read);
      });
    }
    const bool is_empty = read.text.empty() && read.tool_uses.empty() && read.provider_blocks.empty();
    if (!is_empty) messages_.push_back(std::move(read));
  }

  ToolUse read_use(Parameters& block) {
    ToolUse use{.id = block.required_text("id"), .name = block.required_text("name"), .input = {}};
    check_tool_name(use.name, block.path_of("name"), max_anthropic_tool_name);
    const auto* input = block.object("input");
    if (!input) throw bad_parameter(block.path_of("input"), "is missing");
    use.input = *input;
    block.ignore({"caller", "toolset_name"});
    names_[use.id] = use.name;
    return use;
  }

  /// Reads blocks of another service that are encoded in `text`. Returns false if it is not such an encoding.
  static bool read_hidden(const std::string& text, Message& message) {
    auto others = from_signature(text);
    if (!others) return false;
    std::ranges::move(others->blocks, std::back_inserter(message.provider_blocks));
    message.provider_blocks_of = std::move(others->model);
    return true;
  }

  /// Ignores a thinking block without signature, because services that do not sign thinking do not need it back.
  void read_thinking_block(Parameters& block, const std::string& type, Message& message) const {
    if (type == "redacted_thinking") {
      const auto data = block.required_text("data");
      if (read_hidden(data, message)) return;
      message.provider_blocks.push_back(json::object{{"type", type}, {"data", data}});
      message.provider_blocks_of = request_.model;
      return;
    }
    const auto thinking = block.text("thinking").value_or("");
    const auto signature = block.text("signature").value_or("");
    if (signature.empty()) return;
    if (read_hidden(signature, message)) return;
    message.provider_blocks.push_back(json::object{{"type", type}, {"thinking", thinking}, {"signature", signature}});
    message.provider_blocks_of = request_.model;
  }

  ClientRequest& request_;
  std::vector<Message>& messages_;
  CallOptions& options_;
  bool is_open_ = false;
  std::optional<std::string> effort_;
  std::map<std::string, std::string, std::less<>> names_;  ///< of the tools that were called, by the call's id
};

}  // namespace

std::optional<std::string> read_anthropic_conversation(const json::array& messages, ClientRequest& request) {
  return ConversationReader(request).read(messages);
}

std::optional<std::string> read_anthropic_effort(Parameters& config) {
  constexpr std::array<std::string_view, 5> efforts{"low", "medium", "high", "xhigh", "max"};
  auto effort = config.text("effort");
  if (effort && !contains(efforts, *effort))
    throw bad_parameter(config.path_of("effort"), "must be low, medium, high, xhigh or max");
  return effort;
}

std::string anthropic_text(const json::value& content, const std::string& path, CallOptions& options) {
  if (const auto* text = content.if_string()) return std::string(*text);
  if (!content.is_array()) throw bad_parameter(path, "must be a string or an array of text blocks");
  std::string text;
  for_each_block(content.get_array(), path, options, [&](Parameters& block, const std::string& type) {
    if (type != "text") reject_block(block, type, "text");
    block.ignore({"citations"});
    add_text_part(text, block.text("text").value_or(""));
  });
  return text;
}

}  // namespace agw
