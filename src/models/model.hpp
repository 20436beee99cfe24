#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/cut.hpp"
#include "base/json.hpp"
#include "base/task.hpp"

namespace agw {

/// Tokens of one model call, or their sum over several. `input_tokens` are those neither read from nor written to a
/// cache.
struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cache_read_tokens = 0;
  std::int64_t cache_write_tokens = 0;

  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};

/// A tool as a model is told of it.
struct ToolDescription {
  std::string name;  ///< `[A-Za-z0-9_-]{1,64}`
  std::string description;
  json::value input_schema;
};

/// A tool that the model asks for. Arguments that were not a JSON object come as `raw_input`, for an error result.
struct ToolUse {
  std::string id;
  std::string name;
  json::object input;
  std::optional<std::string> raw_input;
};

/// An image in a user's message.
struct Image {
  std::string mime;
  std::string bytes;
};

/// One message of the conversation that a model reads.
struct Message {
  enum class Role { user, assistant, tool };
  Role role = Role::user;
  std::string text{};
  std::vector<Image> images{};       ///< of the user; services take none with results of tools
  std::vector<ToolUse> tool_uses{};  ///< assistant only; each is answered by a tool message
  std::string tool_call_id{};        ///< tool only
  std::string tool_name{};           ///< tool only
  bool is_error = false;             ///< tool only
  /// Assistant only: what the provider wants back unchanged (thinking signatures, reasoning items); used only by the
  /// provider and model that made it.
  json::array provider_blocks{};
  std::string provider_blocks_of{};  ///< `<provider>/<model>` that made them
};

/// One call of a model.
struct ModelRequest {
  std::string model;  ///< the id that the provider knows
  std::string system;
  std::vector<Message> messages;
  std::vector<ToolDescription> tools;
  std::int64_t max_output_tokens = 8192;
  std::optional<double> temperature;
  std::string thread_id;  ///< for providers' cache keys, and for the librarian, which searches
  std::string agent_id;
  /// What the person typed, where the last message is what a command made of it: for the librarian, which no
  /// instructions are meant for; blank where that was. Empty: the same.
  std::string typed;
};

/// A piece of an answer, as it streams.
struct Delta {
  enum class Kind { text, reasoning };
  Kind kind = Kind::text;
  std::string text;  ///< valid UTF-8
};

enum class ModelStop { stop, length, tool_use, content_filter };

/// How a call ended well.
struct ModelReply {
  ModelStop stop = ModelStop::stop;
  std::vector<ToolUse> tool_uses;
  Usage usage;
  json::array provider_blocks;
};

/// How it did not. `message` is fit for people and names the provider; it never holds a key.
struct ModelFailure {
  enum class Kind {
    unavailable,   ///< connection broken, 5xx, 529, 408, silence: worth another try
    rate_limited,  ///< 429: worth another try after `retry_after`
    refused,       ///< 4xx, quota, a wrong key: trying again would not help
    protocol,      ///< what came was not the provider's protocol: worth another try
    stopped,       ///< the caller's Stop
  };
  Kind kind = Kind::unavailable;
  std::string message;
  int status = 0;  ///< HTTP status, 0 for none
  std::optional<std::chrono::milliseconds> retry_after;
  Usage usage;            ///< what was counted until then
  bool too_long = false;  ///< refused because the model's window holds less: a shorter request may be answered
};

using ModelOutcome = std::variant<ModelReply, ModelFailure>;
using OnDelta = std::function<void(const Delta&)>;

/// A model service. One object serves any number of calls at once.
class Provider {
public:
  virtual ~Provider() = default;

  /// Streams one answer: `on_delta` is called on the loop for each piece as it arrives, before this returns. When
  /// `stop` is requested the request upstream is really aborted (its connection closed) and the outcome is `stopped`.
  virtual Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, Stop& stop) = 0;
};

}  // namespace agw
