#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/http/http_client.hpp"
#include "models/failures.hpp"
#include "models/frames.hpp"
#include "models/model.hpp"
#include "models/settings.hpp"
#include "models/think_tags.hpp"
#include "models/tool_calls.hpp"
#include "models/utf8_decoder.hpp"

namespace agw {

/// Reads the frames of one streaming answer and determines how it ended. Each wire format has its own.
/// Example: src/models/anthropic_test.cpp: AnthropicReader.ReadsThinkingTextAndToolCallsWhereverTheStreamIsCut
class AnswerReader {
public:
  explicit AnswerReader(const OnDelta& on_delta) : on_delta_(on_delta) {}
  virtual ~AnswerReader() = default;

  /// Called first if the model begins to think without a tag. See ThinkTags.
  void expect_thoughts() { tags_ = ThinkTags(true); }
  /// After the outcome: whether the model's next answer begins like that.
  bool thinks_without_tag() const { return tags_.are_open(); }

  /// Reads the next frame. Frames after the end or a failure are ignored.
  void read(const Frame& frame);

  /// Records that the response is unusable.
  void fail(ModelFailure::Kind kind, std::string message);

  bool failed() const { return failure_.has_value(); }
  /// The error that the service sent instead of an answer: nothing of one has been reported. Null if there is none.
  const ProviderError* refusal() const { return failed() && !began_ && notice_ ? &*notice_ : nullptr; }
  /// Whether no further frames are needed.
  bool ended() const { return ended_ || failed(); }
  /// Whether the answer can be accepted as it is, although more may follow.
  bool complete() const { return complete_ && !failed(); }

  /// Returns the result of the call. Call it once, after the last frame.
  ModelOutcome outcome();
  const Usage& usage() const { return reply_.usage; }

protected:
  virtual void read_object(std::string_view event, const json::object& frame) = 0;
  /// Called when `[DONE]` arrives.
  virtual void read_done_marker() {}
  /// Called before the reply is returned, to complete it.
  virtual void finish() {}

  void text(std::string_view delta);
  void reasoning(std::string_view delta);
  /// Reports reasoning, and keeps it for `finish`, which may put it into a provider block.
  void returnable_reasoning(std::string_view delta);
  /// Reports a text that may begin with thoughts in tags, which are kept like that.
  void tagged_text(std::string_view delta) { take(tags_.add(delta)); }
  /// Reports the tier that answers, as in OpenAI's APIs; does nothing if it is empty.
  void service_tier(std::string_view tier);
  /// Reports a complete provider block.
  void provider_block(const json::object& block);
  void fail(const ProviderError& provider_error);
  bool wrote_text() const { return wrote_text_; }

  ModelReply reply_;
  std::string thoughts_;  ///< the text that may be sent back
  ToolCalls calls_;
  bool complete_ = false;
  bool ended_ = false;
  /// What the service sent instead of an answer: the reason, if none follows.
  std::optional<ProviderError> notice_;

private:
  void take(const ThinkTags::Pieces& pieces);
  void emit(Delta::Kind kind, std::string delta);
  void emit_calls();
  void emit_rest_of_calls();

  const OnDelta& on_delta_;
  std::optional<ModelFailure> failure_;
  ThinkTags tags_;
  Utf8Decoder text_;
  Utf8Decoder reasoning_;
  bool wrote_text_ = false;
  bool began_ = false;
  /// The part of a call that was reported.
  struct ReportedCall {
    std::string id{};  ///< empty: nothing yet
    std::size_t bytes = 0;
    Utf8Decoder arguments{};
  };
  std::vector<ReportedCall> reported_;
};

/// How requests are written and answers are read. Has no state per call.
class WireFormat {
public:
  virtual ~WireFormat() = default;

  /// The URL for requests to that model.
  virtual std::string url(std::string_view model) const = 0;
  /// The header with the key, and others that the format requires.
  virtual std::vector<HttpHeader> headers() const = 0;
  virtual json::object request(const ModelRequest& request) const = 0;

  /// Removes or changes the part of `request` that the provider rejected. Returns false if that is not possible.
  virtual bool adjust(json::object& request, const ProviderError& provider_error) const = 0;

  /// `on_delta` must outlive the reader.
  virtual std::unique_ptr<AnswerReader> reader(const OnDelta& on_delta) const = 0;
  /// Chooses the splitter for a response that begins with that character, apart from white space. Some servers label
  /// streams as JSON, and JSON as a stream.
  virtual std::unique_ptr<FrameSplitter> splitter(char first, OnFrame on_frame) const;
};

/// Whether the message's provider blocks were made by `model` of `provider`, the only one that accepts them.
bool can_resend_blocks(const Message& message, std::string_view provider, std::string_view model);

/// Whether an answer has neither text nor calls. Services refuse one that has only thoughts, or nothing.
bool says_nothing(const Message& answer);

// Deferred tools, for services that load them when the conversation refers to them.

/// The existing deferred tools that a result refers to.
std::vector<const ToolDescription*> referenced_tools(const Message& result, const DeferredTools& deferred);
/// The tools that the request must define in full: the offered ones to which its messages do not refer.
std::vector<const ToolDescription*> tools_to_define(const ModelRequest& request);
/// Whether the tool is among `deferred`.
bool is_deferred(const DeferredTools& deferred, std::string_view name);

/// A part of a user's message: a text that is not blank, or an image.
using MessagePart = std::variant<std::string_view, const Image*>;
/// The texts and images of a message, in order. They refer to the message.
/// Example: src/models/wire_format_test.cpp: WireFormat.KeepsTheOrderOfTextsAndImages
std::vector<MessagePart> parts_of(const Message& message);

/// The text of a message with the role `system` as one of the user, for services that accept instructions only at the
/// beginning.
std::string reminder_text(std::string_view instructions);
/// Whether an item of a written request is a program's thoughts, which are passed on as they came: their other members
/// may be missing or of any kind.
bool is_passed_on(const json::object& item);
/// Turns the messages of a written request whose role is `system` or `developer` into messages of the user, except the
/// first, which is the system prompt. Returns false if there are none.
bool remind_as_user(json::array& messages);

/// A tool's description with its examples, for services without a separate member for examples.
std::string description_with_examples(const ToolDescription& tool);

std::string base64(std::string_view bytes);
/// The decoded bytes; no value if the text is not base64. Padding is optional.
std::optional<std::string> from_base64(std::string_view text);
/// An image as a `data:` URL.
std::string data_url(const Image& image);
/// A tool's result as text, for formats that cannot mark errors.
std::string result_text(const Message& message);
/// A tool call's arguments as the text of a JSON object, which is empty if the model wrote something else.
std::string arguments_for_service(const ToolUse& use);
/// Adds the tier and the labels, unchanged, for services with OpenAI's APIs.
void add_labels(json::object& body, const CallOptions& options);
/// Tools in the form that OpenAI's Chat Completions and Ollama share.
json::array function_tools(const std::vector<ToolDescription>& descriptions);

/// Anthropic's Messages API. Replies include thinking blocks, which must be sent back unchanged with their turn. The
/// prompt is cached at the tools, the system prompt and the last two user messages.
std::unique_ptr<WireFormat> anthropic_format(ProviderSettings settings);

/// OpenAI's Responses API, stateless: OpenAI stores nothing. Replies include encrypted reasoning items, which are sent
/// back with their turn.
std::unique_ptr<WireFormat> openai_responses_format(ProviderSettings settings);

/// OpenAI's Chat Completions API, as OpenAI and the many compatible servers implement it: llama.cpp, vLLM, LM Studio,
/// OpenRouter and others.
std::unique_ptr<WireFormat> openai_chat_format(ProviderSettings settings);

/// Google's Gemini API (`generateContent`), streamed. Replies include signatures of thoughts, which are sent back with
/// the part that they belong to.
std::unique_ptr<WireFormat> gemini_format(ProviderSettings settings);

/// The version to append to the address of a Gemini service: `/v1beta`, or nothing if the address has one.
std::string gemini_version(std::string_view base_url);

/// The context window to request if the service's definition specifies none, in tokens. Ollama's default may be as
/// small as 4,096, and it truncates prompts silently.
inline constexpr std::int64_t ollama_context_window = 32'768;

/// Ollama's own API.
std::unique_ptr<WireFormat> ollama_format(ProviderSettings settings);

}  // namespace agw
