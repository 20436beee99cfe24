#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "base/json/shared_json.hpp"

namespace agw {

struct CallFeature;

/// Tokens of one model call, or their sum over several. `input_tokens` are those neither read from nor written to a
/// cache.
struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cache_read_tokens = 0;
  std::int64_t cache_write_tokens = 0;
  std::int64_t reasoning_tokens = 0;  ///< part of `output_tokens`; 0 if the service does not count them

  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};

/// A tool as it is described to a model.
struct ToolDescription {
  std::string name;  ///< `[A-Za-z0-9_-]{1,64}`
  std::string description;
  SharedJson input_schema;
  std::optional<bool> strict{};  ///< true: the service guarantees that arguments match the schema
  json::array examples{};        ///< sample inputs
};

/// Tools of which the model gets only the names, by name. Null if there are none.
using DeferredTools = std::shared_ptr<const std::vector<ToolDescription>>;
/// The tool that searches deferred tools. Services with a search of their own get it in that form.
inline constexpr std::string_view find_tools_name = "FindTools";

/// A tool call that the model requests.
struct ToolUse {
  std::string id;
  std::string name;
  json::object input;
  /// The arguments as the model wrote them, if that is known; writing `input` changes spaces and some numbers.
  std::string arguments{};
  bool is_malformed = false;  ///< the arguments are not a JSON object, and `input` is empty

  std::string arguments_text() const { return arguments.empty() ? to_json(input) : arguments; }
};

/// An image in a user's message.
struct Image {
  std::string mime;
  std::string bytes;
  std::string detail{};         ///< the resolution to analyse it at, as in OpenAI's APIs; empty: the service decides
  std::size_t text_before = 0;  ///< the number of bytes of Message::text that precede the image
};

/// One message of the conversation that a model reads.
struct Message {
  /// `system`: instructions of a program for the rest of the conversation, never the first message. Those for all of it
  /// are ModelRequest::system.
  enum class Role { user, assistant, tool, system };
  Role role = Role::user;
  std::string text{};
  std::vector<Image> images{};       ///< user only: services accept none with tool results
  std::vector<ToolUse> tool_uses{};  ///< assistant only; each has a result in a later tool message
  std::string tool_call_id{};        ///< tool only
  std::string tool_name{};           ///< tool only
  bool is_error = false;             ///< tool only
  std::string name{};                ///< user and assistant: the speaker, if there are several; else empty
  std::string phase{};               ///< assistant only: commentary or final_answer, if the program says which
  /// Tool only: the names of deferred tools that this call of FindTools found.
  std::vector<std::string> found_tools{};
  /// Assistant only: blocks that must be sent back unchanged (thinking signatures, reasoning items), and only to the
  /// provider and model that made them.
  json::array provider_blocks{};
  std::string provider_blocks_of{};  ///< `<provider>/<model>` that made them
};

/// Which tools the model may call, and whether it has to.
struct ToolChoice {
  enum class Kind { automatic, none, required, named };
  Kind kind = Kind::automatic;
  std::string name{};  ///< `named` only: the tool that must be called
};

/// The form that the text of an answer must have.
struct ResponseFormat {
  enum class Kind { json_object, json_schema };
  Kind kind = Kind::json_object;
  std::string name{};         ///< `json_schema` only, like those below
  std::string description{};  ///< may be empty
  json::value schema{};
  std::optional<bool> strict{};
};

/// Settings of a call that programs choose; for the gateway's own calls the service decides. The table of
/// models/call_features.hpp lists which service supports which.
struct CallOptions {
  std::optional<ToolChoice> tool_choice{};
  std::optional<bool> parallel_tool_calls{};
  std::optional<ResponseFormat> response_format{};
  std::optional<double> top_p{};
  std::optional<std::int64_t> top_k{};
  std::optional<std::int64_t> seed{};
  std::optional<double> frequency_penalty{};
  std::optional<double> presence_penalty{};
  std::vector<std::string> stop{};                 ///< texts that end the answer
  std::optional<std::string> reasoning_effort{};   ///< `none`, `minimal`, `low`, `medium`, `high`, `xhigh`
  std::optional<std::int64_t> reasoning_budget{};  ///< tokens
  bool thinks_if_able = false;                     ///< a model that cannot reason answers without, as Anthropic's may
  std::string reasoning_summary{};                 ///< `auto`, `concise`, `detailed`; empty: the gateway decides
  std::string verbosity{};                         ///< `low`, `medium`, `high`; empty: the service decides
  std::string service_tier{};                      ///< as OpenAI's APIs name it; empty: the service decides
  std::string inference_geo{};                     ///< where Anthropic may run the model; empty: the service decides
  std::string user_id{};                           ///< the program's user, for services that detect abuse
  /// Members of OpenAI's APIs that do not change the answer: `user`, `metadata`, `prompt_cache_key` … Only services
  /// with these APIs get them, unchanged.
  json::object labels{};
  std::string cache_ttl{};     ///< how long the prompt stays cached: `5m`, `1h`; empty: the default
  bool limits_output = true;   ///< false: `max_output_tokens` is sent only to services that require it
  bool streams_calls = false;  ///< whether tool calls and provider blocks are reported as deltas too
  /// Tokens that no limit may exceed, not even to leave room for thinking: the program's own limit, or the model's.
  std::int64_t output_ceiling = std::numeric_limits<std::int64_t>::max();
};

/// A program's parameters for the calls of one answer.
struct CallSettings {
  std::optional<std::int64_t> max_output_tokens{};  ///< of each call, if less than the default
  std::optional<double> temperature{};
  CallOptions options{};
};

/// One call of a model.
struct ModelRequest {
  std::string model;  ///< the id that the provider knows
  std::string system;
  std::vector<Message> messages;
  std::vector<ToolDescription> tools;
  /// The deferred tools of the thread. Those that it has already found are also in `tools`, at the end.
  DeferredTools deferred_tools{};
  std::int64_t max_output_tokens = 8192;
  std::optional<double> temperature;
  std::string thread_id;  ///< for cache keys of providers, and for the librarian's searches
  std::string agent_id;
  /// If the last message is the expansion of a command: the user's own text, for the librarian, which follows no
  /// instructions. Blank if the user typed nothing else. Empty: same as the last message.
  std::string typed;
  CallOptions options{};
};

/// A piece of an answer, as it streams.
struct Delta {
  enum class Kind {
    text,
    reasoning,
    call,            ///< a tool call begins: `call`, `id`, `name`. Only if CallOptions::streams_calls
    arguments,       ///< of a call: a piece of their JSON text
    provider_block,  ///< one of ModelReply::provider_blocks is complete: its JSON. Only if streams_calls
    service_tier,    ///< ModelReply::service_tier is known. Only if streams_calls; not part of the answer
  };
  Kind kind = Kind::text;
  std::string text;      ///< valid UTF-8
  std::size_t call = 0;  ///< the call's position in ModelReply::tool_uses
  std::string id{};
  std::string name{};
};

enum class StopReason { stop, length, tool_use, content_filter };

/// The result of a successful call.
struct ModelReply {
  StopReason stop = StopReason::stop;
  std::vector<ToolUse> tool_uses;
  Usage usage;
  json::array provider_blocks;
  std::vector<std::string> suggestions{};  ///< messages that the answer suggests to send next; only the librarian's
  std::string stop_sequence{};  ///< the entry of CallOptions::stop that ended the answer, if the service returns it
  std::string service_tier{};   ///< the tier that answered, as in OpenAI's APIs; empty: the service returns none
};

/// Why a call failed. `message` is for people and names the provider; it never contains a key.
struct ModelFailure {
  enum class Kind {
    unavailable,   ///< connection broken, 5xx, 529, 408, timeout: retry
    rate_limited,  ///< 429: retry after `retry_after`
    refused,       ///< 4xx, quota, a wrong key: do not retry
    protocol,      ///< the response violated the provider's protocol: retry
    stopped,       ///< the caller requested it
  };
  Kind kind = Kind::unavailable;
  std::string message;
  int status = 0;  ///< HTTP status, 0 for none
  std::optional<std::chrono::milliseconds> retry_after;
  Usage usage;              ///< counted before the failure
  bool too_long = false;    ///< the request exceeds the model's context window: a shorter one may succeed
  bool is_lasting = false;  ///< unavailable for a reason that lasts, such as a certificate: do not retry
  std::string param{};      ///< of embeddings: the parameter that is wrong, if the service names it
};

using ModelOutcome = std::variant<ModelReply, ModelFailure>;
using OnDelta = std::function<void(const Delta&)>;

/// A model service. One object serves any number of concurrent calls.
/// Example: src/models/http_provider_test.cpp: HttpProvider.StreamsAnAnswer
class Provider {
public:
  virtual ~Provider() = default;

  /// Streams one answer: calls `on_delta` on the loop for each piece as it arrives, and returns after the last. If
  /// `stop` is requested, the upstream connection is closed and the outcome is `stopped`.
  virtual Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) = 0;

  /// Makes embeddings. The body and the result are those of OpenAI's `POST /embeddings`.
  virtual Task<std::variant<json::object, ModelFailure>> embed(json::object body, StopSource& stop);

  /// The first feature that the request uses and the service lacks; null if there is none.
  virtual const CallFeature* unsupported(const ModelRequest& /*request*/) const { return nullptr; }
};

}  // namespace agw
