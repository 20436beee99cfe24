#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"

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

/// A tool as it is described to a model.
struct ToolDescription {
  std::string name;  ///< `[A-Za-z0-9_-]{1,64}`
  std::string description;
  json::value input_schema;
};

/// A tool call that the model requests. Arguments that are not a JSON object are in `raw_input`, for an error result.
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
  std::vector<Image> images{};       ///< user only: services accept none with tool results
  std::vector<ToolUse> tool_uses{};  ///< assistant only; each is answered by a tool message
  std::string tool_call_id{};        ///< tool only
  std::string tool_name{};           ///< tool only
  bool is_error = false;             ///< tool only
  /// Assistant only: blocks that must be sent back unchanged (thinking signatures, reasoning items), and only to the
  /// provider and model that made them.
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
  /// The user's own text if the last message is a command's expansion of it, for the librarian, which follows no
  /// instructions; blank if the user typed nothing else. Empty: same as the last message.
  std::string typed;
};

/// A piece of an answer, as it streams.
struct Delta {
  enum class Kind { text, reasoning };
  Kind kind = Kind::text;
  std::string text;  ///< valid UTF-8
};

enum class StopReason { stop, length, tool_use, content_filter };

/// The result of a successful call.
struct ModelReply {
  StopReason stop = StopReason::stop;
  std::vector<ToolUse> tool_uses;
  Usage usage;
  json::array provider_blocks;
  std::vector<std::string> suggestions{};  ///< messages that the answer offers to send next; only the librarian's
};

/// Why a call failed. `message` is for people and names the provider; it never contains a key.
struct ModelFailure {
  enum class Kind {
    unavailable,   ///< connection broken, 5xx, 529, 408, silence: worth a retry
    rate_limited,  ///< 429: worth a retry after `retry_after`
    refused,       ///< 4xx, quota, a wrong key: a retry would not help
    protocol,      ///< the response did not follow the provider's protocol: worth a retry
    stopped,       ///< the caller requested it
  };
  Kind kind = Kind::unavailable;
  std::string message;
  int status = 0;  ///< HTTP status, 0 for none
  std::optional<std::chrono::milliseconds> retry_after;
  Usage usage;            ///< counted before the failure
  bool too_long = false;  ///< the request exceeds the model's context window: a shorter one may succeed
};

using ModelOutcome = std::variant<ModelReply, ModelFailure>;
using OnDelta = std::function<void(const Delta&)>;

/// A model service. One object serves any number of concurrent calls.
/// Example: src/models/http_provider_test.cpp: HttpProvider.StreamsAnAnswer
class Provider {
public:
  virtual ~Provider() = default;

  /// Streams one answer: calls `on_delta` on the loop for each piece as it arrives, before this returns. If `stop` is
  /// requested, the upstream connection is closed and the outcome is `stopped`.
  virtual Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) = 0;
};

}  // namespace agw
