#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/http_client.hpp"
#include "models/characters.hpp"
#include "models/failures.hpp"
#include "models/frames.hpp"
#include "models/model.hpp"
#include "models/tool_calls.hpp"

namespace agw {

/// Reads the frames of one streaming answer and says how it ended. Each wire format has its own.
class AnswerReader {
public:
  explicit AnswerReader(const OnDelta& on_delta) : on_delta_(on_delta) {}
  virtual ~AnswerReader() = default;

  /// Takes the next frame; what follows the end or a failure is ignored.
  void read(const Frame& frame);

  /// What came is of no use.
  void fail(ModelFailure::Kind kind, std::string message);

  bool failed() const { return failure_.has_value(); }
  /// Nothing more is needed.
  bool ended() const { return ended_ || failed(); }
  /// Enough came to accept the answer, though more may follow.
  bool complete() const { return complete_ && !failed(); }

  /// How the call ended, once no frame will follow.
  ModelOutcome outcome();
  const Usage& usage() const { return reply_.usage; }

protected:
  virtual void read_object(std::string_view event, const json::object& frame) = 0;
  /// `[DONE]` came.
  virtual void read_end_mark() {}
  /// The last chance to fill in the reply.
  virtual void finish() {}

  void text(std::string_view delta);
  void reasoning(std::string_view delta);
  void fail(const Complaint& complaint);
  bool wrote_text() const { return wrote_text_; }

  ModelReply reply_;
  ToolCalls calls_;
  bool complete_ = false;
  bool ended_ = false;

private:
  void emit(Delta::Kind kind, std::string delta);

  const OnDelta& on_delta_;
  std::optional<ModelFailure> failure_;
  CharacterReader text_;
  CharacterReader reasoning_;
  bool wrote_text_ = false;
};

/// A wire format: how a request is written and how its answer is read. Holds no state of a call.
class WireFormat {
public:
  virtual ~WireFormat() = default;

  virtual std::string url() const = 0;
  /// The key's header, and what else the format wants.
  virtual std::vector<HttpHeader> headers() const = 0;
  virtual json::object request(const ModelRequest& request) const = 0;

  /// Takes out of (or changes in) a request what the provider complained of, where it can do without. False where
  /// nothing could be done.
  virtual bool adjust(json::object& request, const Complaint& complaint) const = 0;

  /// `on_delta` must outlive the reader.
  virtual std::unique_ptr<AnswerReader> reader(const OnDelta& on_delta) const = 0;
  /// For an answer with that Content-Type.
  virtual std::unique_ptr<FrameSplitter> splitter(std::string_view content_type, OnFrame on_frame) const;
};

/// Whether the message's blocks may be sent back to `model` of `provider`: they are bound to what made them.
bool made_blocks(const Message& message, std::string_view provider, std::string_view model);

std::string base64(std::string_view bytes);
/// An image as a `data:` URL.
std::string data_url(const Image& image);
/// A tool's result as text, for formats without a mark for errors.
std::string result_text(const Message& message);
/// A tool call's arguments as JSON text.
std::string arguments_text(const ToolUse& use);
/// Tools as OpenAI's Chat Completions and Ollama are told of them.
json::array function_tools(const std::vector<ToolDescription>& descriptions);

}  // namespace agw
