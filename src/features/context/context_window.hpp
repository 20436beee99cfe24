#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "features/attachments/service.hpp"
#include "features/context/deferred_tools.hpp"
#include "features/context/model_limits.hpp"
#include "features/context/thoughts_store.hpp"
#include "features/extensions/types.hpp"
#include "features/runs/types.hpp"
#include "features/threads/service.hpp"
#include "io/process/blocking.hpp"
#include "models/catalog.hpp"
#include "models/model.hpp"
#include "models/retry.hpp"

namespace agw {

/// How deep the input of a tool call may nest. The margin is for turns, lists of turns and events, which contain the
/// input and which clients must be able to parse.
inline constexpr std::size_t max_input_depth = max_json_depth - 8;

/// The sources of a context window. All outlive the window.
struct ContextServices {
  BlockingPool& blocking;
  Database& database;
  const Clock& clock;
  Threads& threads;
  const Models& models;
  Attachments& attachments;
  ModelLimits& limits;
};

/// A message with which the person steers the active answer.
struct UserMessage {
  Turn turn;
  std::optional<std::string> text;  ///< its expansion, if it begins with a command
};

/// The request that one run sends to its models: the system prompt, the tools, and as much of the conversation as fits
/// the model's window. It grows with each step of the run, and shrinks when a model accepts less. Used on the loop, by
/// one coroutine.
/// Example: src/features/context/context_window_test.cpp: ContextWindow.HoldsThePromptTheToolsAndTheConversation
class ContextWindow {
public:
  /// Called for model calls that `ask` does not return: summaries, and refused requests that were sent again.
  using OnUsage = std::function<void(const Completion&)>;

  /// `choices` (at least one) are tried in order until one answers. `run` and `stop` must outlive the window.
  ContextWindow(const ContextServices& services, const Run& run, ExtensionPointer agent,
                std::vector<ModelChoice> choices, StopSource& stop, OnUsage on_usage);

  /// Reads the conversation up to the run's question, with its files. Called once, before `ask`. Replaces older turns
  /// that do not fit by a summary, and appends deferred tools that the thread has already found to the offered ones.
  /// `settings` apply to the calls that answer, not to summaries.
  Task<> load(std::string system, RequestTools tools, CallSettings settings = {});

  /// Calls the models. If a model rejects the request as too long before it has streamed anything, sends it a shorter
  /// one, at most eight times. A fallback with a smaller window also gets a shorter one. Notes the size that a model
  /// accepted in ModelLimits.
  Task<Completion> ask(const OnDelta& on_delta);

  /// Adds the reply of `model_id`, whose text is `text`. Returns its tool calls, with names and ids that all services
  /// accept. Later requests go only to that model and the choices after it.
  std::vector<ToolUse> add_reply(const std::string& model_id, std::string text, ModelReply reply);

  /// Adds the results of the calls. If the model has vision, pictures in them follow as a separate message.
  void add_results(std::vector<Message> results);

  /// Offers these deferred tools, too, for the rest of the thread. Appends them, so that the part of the request that
  /// services have cached stays valid.
  Task<> offer(std::vector<std::string> found_tools);

  /// Adds messages that the person has sent since the run began, with their files.
  Task<> add_messages(std::vector<UserMessage> messages);

  /// Adds instructions for the rest of the conversation.
  void add_instructions(std::string text);

  /// The model that is tried first.
  const ModelChoice& model() const { return choices_.front(); }
  const ModelRequest& request() const { return request_; }

private:
  bool is_loaded() const { return budget_ > 0; }
  std::int64_t output_limit_of(const ModelInfo& model) const;
  std::size_t budget_of(const ModelChoice& choice) const;
  Task<ModelRequest> load_conversation();
  Task<thoughts_store::Found> load_thoughts(const std::vector<Turn>& turns) const;
  bool refuses_thoughts(const Completion& completion) const;
  Task<> forget_thoughts();
  Task<std::optional<std::string>> summarise(std::string earlier, std::vector<Turn> older);
  Task<Completion> ask_choices(const OnDelta& on_delta);
  Task<bool> reduce(Completion refused);
  Task<> shrink_to(std::size_t budget);
  Task<std::vector<Message>> shrink_for(ModelChoice choice);
  void lower_limits(const Completion& completion, std::int64_t asked_output);
  void make_acceptable(std::vector<ToolUse>& uses);
  void drop_choices_before(const std::string& id);
  void drop_choices_without_vision();

  const ContextServices services_;
  const Run& run_;
  const ExtensionPointer agent_;
  std::vector<ModelChoice> choices_;  ///< the first is the one that answered last, if any has
  StopSource& stop_;
  const OnUsage on_usage_;

  CallSettings settings_;
  ModelRequest request_;
  RequestTools tools_;                 ///< as passed to `load`
  std::int64_t tool_tokens_ = 0;       ///< of all offered tools, including found ones
  std::size_t conversation_size_ = 0;  ///< number of messages before those of this run's steps
  std::size_t budget_ = 0;             ///< for all messages, in bytes
  std::int64_t prompt_tokens_ = 0;
  std::set<std::string, std::less<>> call_ids_;  ///< of this run
  std::size_t pictures_ = 0;                     ///< number of pictures from tools
  bool has_vision_ = false;                      ///< of the first choice; if false, pictures of turns are not loaded
  const ThreadChecker thread_;
  bool sends_thoughts_ = true;  ///< of earlier answers; false once a service has refused them
  bool stores_summary_ = true;  ///< for later runs; false once a smaller fallback was tried
};

}  // namespace agw
