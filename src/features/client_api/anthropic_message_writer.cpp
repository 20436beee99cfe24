// Writes Anthropic's Messages. A stream is a sequence of blocks; each begins, grows and stops before the next begins.
//
// Services may interleave the pieces of several tool calls. While the call of the open block is incomplete, pieces of
// other calls are queued. Once its arguments are a complete JSON object, or the answer ends, the block stops and the
// queued pieces are written.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "features/client_api/anthropic_blocks.hpp"
#include "features/client_api/anthropic_messages.hpp"
#include "models/json_reader.hpp"

namespace agw {

namespace {

std::string anthropic_event(const json::object& object) {
  return fmt::format("event: {}\ndata: {}\n\n", string_or_empty(object, "type"), to_json(object));
}

std::string_view anthropic_stop_reason(const ClientAnswer& answer) {
  switch (answer.stop) {
    case StopReason::length:
      return "max_tokens";
    case StopReason::tool_use:
      return "tool_use";
    case StopReason::content_filter:
      return "refusal";
    case StopReason::stop:
      break;
  }
  return answer.stop_sequence.empty() ? "end_turn" : "stop_sequence";
}

json::value stop_sequence_of(const ClientAnswer& answer) {
  return answer.stop_sequence.empty() ? json::value() : json::value(answer.stop_sequence);
}

/// The usage at the end of a stream: the counts of the whole answer, not those since the last event.
json::object final_usage(const Usage& usage) {
  json::object written{{"input_tokens", usage.input_tokens},
                       {"cache_creation_input_tokens", usage.cache_write_tokens},
                       {"cache_read_input_tokens", usage.cache_read_tokens},
                       {"output_tokens", usage.output_tokens},
                       {"output_tokens_details", nullptr},
                       {"server_tool_use", nullptr}};
  if (usage.reasoning_tokens > 0) {
    written["output_tokens_details"] = json::object{{"thinking_tokens", usage.reasoning_tokens}};
  }
  return written;
}

json::value anthropic_tier(const std::string& tier) {
  if (tier.empty()) return nullptr;
  return tier == "priority" || tier == "batch" ? json::value(tier) : json::value("standard");
}

json::object full_usage(const ClientAnswer& answer) {
  auto written = final_usage(answer.usage);
  written["cache_creation"] = nullptr;
  written["inference_geo"] = nullptr;
  written["service_tier"] = anthropic_tier(answer.service_tier);
  written["speed"] = nullptr;
  return written;
}

/// Without `citations`, as Anthropic sends text that cites nothing: the AI SDK refuses null.
json::object text_content(std::string_view text) { return {{"type", "text"}, {"text", text}}; }

json::object thinking_content(std::string_view text, std::string_view signature) {
  return {{"type", "thinking"}, {"thinking", text}, {"signature", signature}};
}

/// A block for data that the service requires back, if there is no thinking whose signature can carry it: programs do
/// not accept thinking without text.
json::object hidden_content(const ServiceBlocks& blocks) {
  return {{"type", "redacted_thinking"}, {"data", to_signature(blocks)}};
}

json::object use_content(std::string_view id, std::string_view name, json::value input) {
  return {{"type", "tool_use"},
          {"id", id},
          {"name", name},
          {"input", std::move(input)},
          {"caller", json::object{{"type", "direct"}}}};
}

class AnthropicWriter : public AnswerWriter {
public:
  explicit AnthropicWriter(ThinkingDisplay thinking) : thinking_(thinking) {}

  std::string_view name_of(const CallFeature& feature) const override { return feature.messages; }

  std::string body(const ClientAnswer& answer) override {
    auto content = thinking_blocks(answer);
    if (!answer.text.empty()) content.push_back(text_content(answer.text));
    for (const auto& use : answer.tool_uses) content.push_back(use_content(use.id, use.name, use.input));
    auto message = empty_message(answer);
    message["content"] = std::move(content);
    message["stop_reason"] = anthropic_stop_reason(answer);
    message["stop_sequence"] = stop_sequence_of(answer);
    message["usage"] = full_usage(answer);
    return to_json(message);
  }

  std::string begin(const ClientAnswer& answer) override {
    AGW_ASSERT(!has_begun_);
    has_begun_ = true;
    return anthropic_event({{"type", "message_start"}, {"message", empty_message(answer)}}) + ping();
  }

  std::string delta(const ClientAnswer& answer, const Delta& delta) override {
    AGW_ASSERT(has_begun_);
    std::string events;
    write(events, answer, delta);
    return events;
  }

  std::string end(const ClientAnswer& answer) override {
    AGW_ASSERT(has_begun_);
    std::string events;
    write_remaining(events, answer);
    AGW_ASSERT(!open_);
    AGW_ASSERT(waiting_.empty());
    events += anthropic_event({{"type", "message_delta"},
                               {"delta", json::object{{"container", nullptr},
                                                      {"stop_details", nullptr},
                                                      {"stop_reason", anthropic_stop_reason(answer)},
                                                      {"stop_sequence", stop_sequence_of(answer)}}},
                               {"usage", final_usage(answer.usage)}});
    return events + anthropic_event({{"type", "message_stop"}});
  }

  std::string fail(const ClientAnswer& /*answer*/, const ApiError& error) override {
    return fmt::format("event: error\ndata: {}\n\n", anthropic_error(error));
  }

  /// Before `message_start`, which must be the first event, only a comment can keep the connection alive.
  std::string keep_alive() const override { return has_begun_ ? ping() : AnswerWriter::keep_alive(); }

private:
  struct Block {
    Delta::Kind kind = Delta::Kind::text;
    std::size_t call = 0;
    std::string arguments{};
  };

  static std::string ping() { return anthropic_event({{"type", "ping"}}); }

  static json::object empty_message(const ClientAnswer& answer) {
    json::object message{{"id", "msg_" + answer.id}, {"type", "message"},          {"role", "assistant"},
                         {"model", answer.model},    {"content", json::array()},   {"container", nullptr},
                         {"diagnostics", nullptr},   {"stop_details", nullptr},    {"stop_reason", nullptr},
                         {"stop_sequence", nullptr}, {"usage", full_usage(answer)}};
    if (!answer.thread_id.empty()) message["metadata"] = json::object{{"thread_id", answer.thread_id}};
    return message;
  }

  json::value shown_block(const json::value& block) const {
    auto shown = block;
    if (thinking_ == ThinkingDisplay::omitted && shown.get_object().contains("thinking")) {
      shown.get_object()["thinking"] = "";
    }
    return shown;
  }

  json::array thinking_blocks(const ClientAnswer& answer) const {
    json::array content;
    if (thinking_ == ThinkingDisplay::none) return content;
    ServiceBlocks others{.model = answer.model, .blocks = {}};
    for (const auto& block : answer.provider_blocks) {
      if (is_thinking_block(block)) {
        content.push_back(shown_block(block));
      } else {
        others.blocks.push_back(block);
      }
    }
    const auto text = thinking_ == ThinkingDisplay::shown && content.empty() ? answer.reasoning : std::string();
    if (!text.empty()) {
      content.push_back(thinking_content(text, others.blocks.empty() ? std::string() : to_signature(others)));
    } else if (!others.blocks.empty()) {
      content.push_back(hidden_content(others));
    }
    return content;
  }

  void write(std::string& events, const ClientAnswer& answer, const Delta& delta) {
    if (!waiting_.empty() || must_wait(delta)) {
      if (belongs_to_open_block(delta)) return write_event(events, answer, delta);
      waiting_.push_back(delta);
      return;
    }
    write_event(events, answer, delta);
  }

  bool belongs_to_open_block(const Delta& delta) const {
    return open_ && delta.kind == Delta::Kind::arguments && open_->kind == Delta::Kind::call &&
           delta.call == open_->call;
  }

  bool must_wait(const Delta& delta) const {
    return open_ && open_->kind == Delta::Kind::call && !belongs_to_open_block(delta) &&
           !parse_object(open_->arguments);
  }

  void write_event(std::string& events, const ClientAnswer& answer, const Delta& delta) {
    switch (delta.kind) {
      case Delta::Kind::text:
        open(events, {Delta::Kind::text}, text_content(""));
        return change(events, {{"type", "text_delta"}, {"text", delta.text}});
      case Delta::Kind::reasoning:
        return write_reasoning(events, delta.text);
      case Delta::Kind::provider_block:
        return write_provider_block(events, answer, delta.text);
      case Delta::Kind::call:
        open(events, {Delta::Kind::call, delta.call}, use_content(delta.id, delta.name, json::object()));
        return;
      case Delta::Kind::arguments:
        return write_arguments(events, answer, delta);
      case Delta::Kind::service_tier:
        return;
    }
  }

  void write_arguments(std::string& events, const ClientAnswer& answer, const Delta& delta) {
    if (!belongs_to_open_block(delta)) return;
    open_->arguments += delta.text;
    change(events, {{"type", "input_json_delta"}, {"partial_json", delta.text}});
    if (!waiting_.empty() && parse_object(open_->arguments)) write_waiting(events, answer);
  }

  void write_reasoning(std::string& events, std::string_view text) {
    if (thinking_ != ThinkingDisplay::shown || text.empty()) return;
    open(events, {Delta::Kind::reasoning}, thinking_content("", ""));
    change(events, {{"type", "thinking_delta"}, {"thinking", text}});
  }

  /// Writes a complete block, given as JSON. Its text has already been written as thinking.
  void write_provider_block(std::string& events, const ClientAnswer& answer, std::string_view text) {
    const auto block = parse_json(text, {.max_depth = max_own_json_depth});
    if (!block || thinking_ == ThinkingDisplay::none) return;
    ++blocks_written_;
    if (is_thinking_block(*block)) {
      const auto& object = block->get_object();
      if (string_member(object, "type") == "redacted_thinking") {
        close(events);
        open(events, {Delta::Kind::provider_block}, object);
        return close(events);
      }
      return sign(events, string_or_empty(object, "signature"));
    }
    hide(events, {.model = answer.model, .blocks = {*block}});
  }

  /// Writes the blocks as the signature of the open thinking block, otherwise in a separate block.
  void hide(std::string& events, const ServiceBlocks& blocks) {
    if (open_ && open_->kind == Delta::Kind::reasoning) return sign(events, to_signature(blocks));
    close(events);
    open(events, {Delta::Kind::provider_block}, hidden_content(blocks));
    close(events);
  }

  void sign(std::string& events, std::string_view signature) {
    open(events, {Delta::Kind::reasoning}, thinking_content("", ""));
    change(events, {{"type", "signature_delta"}, {"signature", signature}});
    close(events);
  }

  /// Begins a block, unless one of that kind is open. Calls always begin a new one.
  void open(std::string& events, Block block, json::object content) {
    if (open_ && open_->kind == block.kind && block.kind != Delta::Kind::call) return;
    close(events);
    events +=
        anthropic_event({{"type", "content_block_start"}, {"index", index_}, {"content_block", std::move(content)}});
    open_ = std::move(block);
  }

  void change(std::string& events, json::object delta) const {
    AGW_ASSERT(open_);
    events += anthropic_event({{"type", "content_block_delta"}, {"index", index_}, {"delta", std::move(delta)}});
  }

  void close(std::string& events) {
    if (!open_) return;
    events += anthropic_event({{"type", "content_block_stop"}, {"index", index_++}});
    open_.reset();
  }

  void write_waiting(std::string& events, const ClientAnswer& answer) {
    const auto before = waiting_.size();
    close(events);
    for (const auto& delta : std::exchange(waiting_, {})) write(events, answer, delta);
    AGW_ASSERT(waiting_.size() < before);  // otherwise `write_remaining` would not end
  }

  /// Writes queued deltas, then the blocks that only the complete answer contains.
  void write_remaining(std::string& events, const ClientAnswer& answer) {
    while (!waiting_.empty()) write_waiting(events, answer);
    ServiceBlocks others{.model = answer.model, .blocks = {}};
    const auto& blocks = answer.provider_blocks;
    for (std::size_t i = blocks_written_; i < blocks.size(); ++i) {
      if (is_thinking_block(blocks[i])) {
        write_provider_block(events, answer, to_json(blocks[i]));
      } else {
        others.blocks.push_back(blocks[i]);
      }
    }
    if (!others.blocks.empty() && thinking_ != ThinkingDisplay::none) hide(events, others);
    close(events);
  }

  const ThinkingDisplay thinking_;
  bool has_begun_ = false;
  std::int64_t index_ = 0;
  std::optional<Block> open_;
  std::vector<Delta> waiting_;
  std::size_t blocks_written_ = 0;
};

}  // namespace

std::unique_ptr<AnswerWriter> anthropic_message_writer(ThinkingDisplay thinking) {
  return std::make_unique<AnthropicWriter>(thinking);
}

}  // namespace agw
