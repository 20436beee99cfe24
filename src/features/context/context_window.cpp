// Selects the part of a conversation that a model is shown. docs/design/runs.md, "Fitting the context window", has an
// example.
//
// The *window* is the number of tokens that a model accepts for prompt, messages and answer together. The *budget* is
// the space for messages, in bytes: three for each token of the window that remains after the system prompt, the tools,
// the answer and 1,000 spare tokens, but at least enough for 2,000 tokens. The *conversation* is the messages up to the
// question; the messages of this run's *steps* follow it.
//
// The invariant: the messages sent to a model fit its own budget, as far as they can be shortened. The question is
// always among them, and every tool call is followed by its result.
//
// `load`, with the budget of the first choice:
//   1. Load the text of the question's files, up to half of the budget.
//   2. If the stored summary and all turns after it fit into the rest, use them.
//   3. Otherwise keep the newest turns that fit into half of it, have the older ones summarised by the model that will
//      answer, and store the summary. If the model is offline or fails, a fixed rule makes the summary.
//   4. Add the model's thoughts of earlier answers (thoughts.hpp), at most half of the budget, if they fit.
//   5. Use the rest, at most half of the budget, for the files of the turns.
//
// `ask`, until a model answers:
//   1. Call the choices in order. For one with a smaller budget, load the conversation again right before the call.
//   2. If a model rejects the request as too long before it has streamed anything, halve the larger of the maximum
//      length of the answer and the conversation, which is loaded again. At most eight times.
//   3. If that model then answers, note the size that it accepted in ModelLimits, for later runs.
//
// `add_reply` and `add_results` append a step. If the messages no longer fit, results of tools are shortened: the
// oldest first, then the inputs of older calls, and finally the newest results, each to a fair share.
//
// Only the summary has to survive a kill. It is stored only if the turns that it replaces are unchanged in the same
// transaction, so it never preserves text that a person has deleted.

#include "features/context/context_window.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/context/attached_files.hpp"
#include "features/context/compaction.hpp"
#include "features/context/conversation_context.hpp"
#include "features/context/deferred_tools_store.hpp"
#include "features/context/history.hpp"
#include "features/context/model_request.hpp"
#include "features/context/prompt.hpp"

namespace agw {

namespace {

/// Enough to get from an assumed window of 128,000 tokens down to 4,000, even if answers have to be shortened, too.
constexpr int max_reductions = 8;
/// In tokens: shorter answers are of no use.
constexpr std::int64_t min_answer = 500;
/// How many pictures from tools a run may show the model.
constexpr std::size_t max_pictures = 20;
/// Bytes of the thoughts of earlier answers.
constexpr std::size_t max_thoughts = 512 * 1024;
/// From this size on, work on the texts of a conversation would hold the loop for milliseconds.
constexpr std::size_t large_conversation = 256 * 1024;  // bytes

std::size_t size_of_texts(const std::vector<Turn>& turns) {
  std::size_t size = 0;
  for (const auto& turn : turns) size += turn.content.size();
  return size;
}

/// How many bytes of `budget` remain for the text of files, after a conversation of `used` bytes.
std::size_t left_for_files(std::size_t budget, std::size_t used) {
  return std::min(budget - std::min(budget, used), budget / 2);
}

/// The text that a command expanded the question to.
std::optional<std::string> expanded_text(const Run& run) {
  const auto text = string_member(run.order, "text");
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

/// Keeps the thoughts of answers that are among `turns`.
void keep_those_of(std::vector<thoughts_store::Size>& answers, const std::vector<Turn>& turns) {
  std::set<std::string_view> ids;
  for (const auto& turn : turns) ids.insert(turn.id);
  std::erase_if(answers, [&ids](const auto& answer) { return !ids.contains(answer.first); });
}

void remove_thoughts(std::span<Message> messages) {
  for (auto& message : messages) message.provider_blocks.clear();
}

/// Sends fewer messages to a provider. `shrink` selects them, and is called only if that provider is called.
class ShrinkingProvider : public Provider {
public:
  ShrinkingProvider(Provider& provider, std::function<Task<std::vector<Message>>()> shrink)
      : provider_(provider), shrink_(std::move(shrink)) {}

  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) override {
    if (!messages_) messages_ = co_await shrink_();
    auto fitting = request;
    fitting.messages = *messages_;
    co_return co_await provider_.answer(fitting, on_delta, stop);
  }

private:
  Provider& provider_;
  std::function<Task<std::vector<Message>>()> shrink_;
  std::optional<std::vector<Message>> messages_;
};

}  // namespace

ContextWindow::ContextWindow(const ContextServices& services, const Run& run, ExtensionPointer agent,
                             std::vector<ModelChoice> choices, StopSource& stop, OnUsage on_usage)
    : services_(services),
      run_(run),
      agent_(std::move(agent)),
      choices_(std::move(choices)),
      stop_(stop),
      on_usage_(std::move(on_usage)) {
  AGW_ASSERT(!choices_.empty());
}

Task<> ContextWindow::load(std::string system, RequestTools tools, CallSettings settings) {
  AGW_ASSERT(thread_.is_current());
  AGW_ASSERT(!is_loaded());
  AGW_ASSERT(request_.messages.empty());
  settings_ = std::move(settings);
  const auto model = services_.limits.of(choices_.front());
  has_vision_ = model.vision;
  tools_ = std::move(tools);
  auto offered = std::move(tools_.offered);
  tool_tokens_ = tools_.tokens;
  if (tools_.deferred) {
    const auto found = co_await services_.database.read([thread_id = run_.thread_id](Connection& connection) {
      return found_tools_store::list(connection, thread_id);
    });
    offer_found(offered, tool_tokens_, tools_, found);
  }
  prompt_tokens_ = estimated_tokens(system) + tool_tokens_;
  AGW_ASSERT(tool_tokens_ >= tools_.tokens);
  AGW_ASSERT(tools_.tokens >= 0);
  AGW_ASSERT(prompt_tokens_ >= tool_tokens_);
  budget_ = budget_of(choices_.front());
  AGW_ASSERT(is_loaded());
  request_ = co_await load_conversation();
  request_.system = std::move(system);
  request_.tools = std::move(offered);
  request_.deferred_tools = tools_.deferred;
  request_.max_output_tokens = output_limit_of(model);
  if (settings_.temperature) request_.temperature = settings_.temperature;
  request_.options = settings_.options;
  drop_choices_without_vision();
}

/// The agent's limit, or that of the client program if it is lower.
std::int64_t ContextWindow::output_limit_of(const ModelInfo& model) const {
  const auto limit = output_limit(*agent_, model);
  return std::min(limit, settings_.max_output_tokens.value_or(limit));
}

std::size_t ContextWindow::budget_of(const ModelChoice& choice) const {
  const auto model = services_.limits.of(choice);
  return context_budget(model, output_limit_of(model), prompt_tokens_);
}

/// As much of the conversation and its files as fits. The question's own files take precedence over older turns. Files
/// of older turns share the remaining bytes; those that do not fit are only mentioned.
Task<ModelRequest> ContextWindow::load_conversation() {
  const std::vector<Turn> question{co_await services_.threads.require_turn(run_.turn_id)};
  auto question_files = co_await load_attached_files(services_.attachments, question, false, budget_ / 2);
  const auto question_size = text_size(question_files);
  // The other half is for the turns.
  AGW_ASSERT(question_size <= budget_ / 2);
  const auto by_model = [this](std::string earlier, std::vector<Turn> older) {
    return summarise(std::move(earlier), std::move(older));
  };
  const auto [summary, turns] =
      co_await load_context(services_.database, services_.clock, services_.threads, run_.thread_id,
                            {run_.turn_id, budget_ - question_size, by_model, stores_summary_});
  // Most conversations have no files, and computing the size would double the time of this function.
  const bool any_files = std::ranges::any_of(turns, has_attachments);
  const auto left = any_files ? left_for_files(budget_, summary.size() + total_size(turns)) : 0;
  const auto files = co_await load_attached_files(services_.attachments, turns, has_vision_,
                                                  std::max(question_size, left), std::move(question_files));
  const auto thoughts = co_await load_thoughts(turns);
  auto request = model_request(*agent_, turns, expanded_text(run_), files, thoughts.answers);
  if (!summary.empty()) request.messages.insert(request.messages.begin(), summary_message(summary));
  const bool has_thoughts = thoughts.bytes > 0;
  if (has_thoughts && total_size(request.messages) + thoughts.bytes > budget_) remove_thoughts(request.messages);
  AGW_DEBUG_ASSERT(!request.messages.empty());
  conversation_size_ = request.messages.size();
  make_call_ids_unique(request.messages, call_ids_);
  co_return request;
}

/// The thoughts of the first choice in those of its answers that are among `turns`.
Task<thoughts_store::Found> ContextWindow::load_thoughts(const std::vector<Turn>& turns) const {
  if (!sends_thoughts_ || turns.empty()) co_return thoughts_store::Found{};
  auto answers = co_await services_.database.read(
      [thread = run_.thread_id, model = choices_.front().id()](Connection& connection) {
        return thoughts_store::sizes(connection, thread, model);
      });
  // Most threads have none, and looking for them among thousands of turns takes longer than all of the above.
  if (!answers.empty()) keep_those_of(answers, turns);
  if (answers.empty()) co_return thoughts_store::Found{};
  const auto limit = std::min(budget_ / 2, max_thoughts);
  co_return co_await services_.database.read(
      [answers, limit](Connection& connection) { return thoughts_store::list(connection, answers, limit); });
}

/// Whether the call may have failed because the service no longer accepts its thoughts: their signatures expire, and
/// are valid for one API key only.
bool ContextWindow::refuses_thoughts(const Completion& completion) const {
  AGW_ASSERT(conversation_size_ <= request_.messages.size());
  constexpr int bad_request = 400;
  const auto* failure = std::get_if<ModelFailure>(&completion.outcome);
  if (!failure || failure->too_long || failure->status != bad_request) return false;
  return std::ranges::any_of(std::span(request_.messages).first(conversation_size_),
                             [](const Message& message) { return !message.provider_blocks.empty(); });
}

Task<> ContextWindow::forget_thoughts() {
  AGW_ASSERT(conversation_size_ <= request_.messages.size());
  sends_thoughts_ = false;
  remove_thoughts(std::span(request_.messages).first(conversation_size_));
  co_await services_.database.write(
      [thread = run_.thread_id](Connection& connection) { thoughts_store::forget(connection, thread); });
}

/// Has the model that will answer write the summary; if it is offline or fails, uses a fixed rule. Returns no value if
/// the run was stopped.
Task<std::optional<std::string>> ContextWindow::summarise(std::string earlier, std::vector<Turn> older) {
  const bool is_offline = choices_.front().provider_name == offline_provider;
  std::string plain;
  ModelRequest request;
  co_await services_.blocking.run_if(size_of_texts(older) > large_conversation, [&] {
    plain = plain_summary(earlier, older);
    if (!is_offline) request = summary_request(earlier, older, budget_);
    older.clear();
  });
  if (is_offline) co_return plain;
  request.agent_id = agent_->id;
  request.thread_id = run_.thread_id;
  std::string text;
  const auto on_delta = [&](const Delta& delta) {
    if (delta.kind == Delta::Kind::text) text += delta.text;
  };
  const auto completion = co_await answer_with_retries(choices_, std::move(request), on_delta, stop_);
  on_usage_(completion);
  if (std::holds_alternative<ModelReply>(completion.outcome) && !text.empty()) co_return text;
  if (const auto* failure = std::get_if<ModelFailure>(&completion.outcome)) {
    if (failure->kind == ModelFailure::Kind::stopped) co_return std::nullopt;
    log::warn("run {}: older turns are summarised by a fixed rule: {}", run_.id, failure->message);
  }
  co_return plain;
}

Task<Completion> ContextWindow::ask(const OnDelta& on_delta) {
  AGW_ASSERT(thread_.is_current());
  AGW_ASSERT(is_loaded());
  const auto asked_output = request_.max_output_tokens;
  std::string refused;
  bool began = false;
  const OnDelta track_first_delta = [&](const Delta& delta) {
    began = began || !delta.text.empty();
    on_delta(delta);
  };
  for (int reductions = 0;; ++reductions) {
    auto completion = co_await ask_choices(track_first_delta);
    const auto* failure = std::get_if<ModelFailure>(&completion.outcome);
    if (!began && sends_thoughts_ && refuses_thoughts(completion)) {
      log::warn("run {}: {}; retrying without the thoughts of earlier answers", run_.id,
                std::get<ModelFailure>(completion.outcome).message);
      on_usage_(completion);
      co_await forget_thoughts();
      // So this happens once.
      AGW_ASSERT(!sends_thoughts_);
      continue;
    }
    if (!failure && completion.id() == refused) lower_limits(completion, asked_output);
    if (!failure || !failure->too_long || began || reductions == max_reductions) co_return completion;
    refused = completion.id();
    if (!co_await reduce(completion)) co_return completion;
  }
}

/// Calls the choices in order, each with messages that fit its window.
Task<Completion> ContextWindow::ask_choices(const OnDelta& on_delta) {
  auto choices = choices_;
  std::deque<ShrinkingProvider> shrinking;
  for (auto& choice : choices) {
    if (budget_of(choice) >= budget_) continue;
    choice.provider = &shrinking.emplace_back(*choice.provider, [this, choice] { return shrink_for(choice); });
  }
  if (shrinking.empty()) co_return co_await answer_borrowed(std::move(choices), request_, on_delta, stop_);
  // Of a copy, because shrinking changes the request, and later choices get all of it.
  co_return co_await answer_with_retries(std::move(choices), request_, on_delta, stop_);
}

/// For a model that accepts less than assumed: halves the maximum length of the answer or the messages, whichever is
/// larger. Returns false if neither can be reduced.
Task<bool> ContextWindow::reduce(Completion refused) {
  drop_choices_before(refused.id());
  const auto size = total_size(request_.messages);
  bool is_less = false;
  if (request_.max_output_tokens * bytes_per_token > static_cast<std::int64_t>(size)) {
    request_.max_output_tokens /= 2;
    is_less = request_.max_output_tokens >= min_answer;
  } else {
    co_await shrink_to(std::min(budget_, size) / 2);
    is_less = total_size(request_.messages) < size;
  }
  if (!is_less) co_return false;
  on_usage_(refused);
  const auto& failure = std::get<ModelFailure>(refused.outcome);
  log::warn("run {}: {}; retrying with a shorter request", run_.id, failure.message);
  co_return true;
}

/// Reloads the conversation with a smaller budget. The messages of this run's steps stay.
Task<> ContextWindow::shrink_to(std::size_t budget) {
  auto& messages = request_.messages;
  AGW_ASSERT(conversation_size_ <= messages.size());
  const std::vector<Message> steps(messages.begin() + static_cast<std::ptrdiff_t>(conversation_size_), messages.end());
  budget_ = budget;
  auto shrunk = co_await load_conversation();
  AGW_ASSERT(conversation_size_ == shrunk.messages.size());
  messages = std::move(shrunk.messages);
  messages.insert(messages.end(), steps.begin(), steps.end());
  shorten_results(messages, budget);
}

/// The messages for a choice whose window is smaller than those of the choices before it, which have failed.
Task<std::vector<Message>> ContextWindow::shrink_for(ModelChoice choice) {
  drop_choices_before(choice.id());
  stores_summary_ = false;
  co_await shrink_to(budget_of(choice));
  co_return request_.messages;
}

/// Notes the limits that the model accepted, so that later runs start from them.
void ContextWindow::lower_limits(const Completion& completion, std::int64_t asked_output) {
  const auto output = request_.max_output_tokens;
  AGW_ASSERT(output <= asked_output);
  const auto window = window_of(budget_, output, prompt_tokens_);
  services_.limits.lower(completion, window, output < asked_output ? std::optional(output) : std::nullopt);
}

std::vector<ToolUse> ContextWindow::add_reply(const std::string& model_id, std::string text, ModelReply reply) {
  AGW_ASSERT(is_loaded());
  make_acceptable(reply.tool_uses);
  Message message;
  message.role = Message::Role::assistant;
  message.text = std::move(text);
  message.tool_uses = reply.tool_uses;
  // As later runs will send them, for the service's cache.
  for (auto& use : message.tool_uses) use.arguments.clear();
  message.provider_blocks = std::move(reply.provider_blocks);
  message.provider_blocks_of = model_id;
  request_.messages.push_back(std::move(message));
  // Other models cannot use its thoughts, and the models before it have failed.
  drop_choices_before(model_id);
  return std::move(reply.tool_uses);
}

/// Makes names and ids of calls acceptable to all services. Ids of this run stay; equal ids in earlier turns change.
void ContextWindow::make_acceptable(std::vector<ToolUse>& uses) {
  for (auto& use : uses) {
    // A program's tool may have a longer name.
    const bool is_offered = contains(request_.tools, use.name, &ToolDescription::name);
    if (!is_offered) use.name = acceptable_name(std::move(use.name));
    use.id = acceptable_name(std::move(use.id));
    if (!call_ids_.insert(use.id).second) call_ids_.insert(use.id = "call_" + random_hex(12));
    if (nests_deeper(use.input, max_input_depth)) {
      use.arguments = to_json(std::exchange(use.input, {}));
      use.is_malformed = true;
    }
  }
  make_call_ids_unique(std::span(request_.messages).first(conversation_size_), call_ids_);
}

void ContextWindow::add_results(std::vector<Message> results) {
  AGW_ASSERT(is_loaded());
  // Services refuse a result without its call.
  AGW_DEBUG_ASSERT(
      std::ranges::all_of(results, [this](const auto& result) { return call_ids_.contains(result.tool_call_id); }));
  const bool sees = services_.models.info(choices_.front()).vision;
  AGW_ASSERT(pictures_ <= max_pictures);
  auto pictures = extract_pictures(results, sees ? max_pictures - pictures_ : 0);
  std::ranges::move(results, std::back_inserter(request_.messages));
  if (pictures) {
    pictures_ += pictures->images.size();
    AGW_ASSERT(pictures_ <= max_pictures);
    request_.messages.push_back(*std::move(pictures));
    drop_choices_without_vision();
  }
  shorten_results(request_.messages, budget_);
}

Task<> ContextWindow::offer(std::vector<std::string> found_tools) {
  AGW_ASSERT(is_loaded());
  if (found_tools.empty()) co_return;
  const auto before = tool_tokens_;
  offer_found(request_.tools, tool_tokens_, tools_, found_tools);
  AGW_ASSERT(tool_tokens_ >= before);
  prompt_tokens_ += tool_tokens_ - before;
  budget_ = std::min(budget_, budget_of(choices_.front()));
  co_await services_.database.write([thread_id = run_.thread_id, found_tools](Connection& connection) {
    found_tools_store::add(connection, thread_id, found_tools);
  });
}

Task<> ContextWindow::add_messages(std::vector<UserMessage> messages) {
  AGW_ASSERT(is_loaded());
  std::vector<Turn> turns;
  turns.reserve(messages.size());
  for (const auto& message : messages) turns.push_back(message.turn);
  const bool sees = services_.models.info(choices_.front()).vision;
  const auto room = left_for_files(budget_, total_size(request_.messages) + total_size(turns));
  const auto files = co_await load_attached_files(services_.attachments, turns, sees, room);
  for (const auto& [turn, text] : messages) {
    auto message = user_message(turn, text, files);
    if (!message) continue;
    request_.messages.push_back(*std::move(message));
    request_.typed = text ? turn.content : std::string();
  }
  drop_choices_without_vision();
  shorten_results(request_.messages, budget_);
}

void ContextWindow::add_instructions(std::string text) {
  AGW_ASSERT(is_loaded());
  request_.messages.push_back({.role = Message::Role::system, .text = std::move(text)});
}

void ContextWindow::drop_choices_before(const std::string& id) {
  const auto first = std::ranges::find(choices_, id, &ModelChoice::id);
  AGW_ASSERT(first != choices_.end());
  choices_.erase(choices_.begin(), first);
}

/// Removes fallbacks that would reject a request with pictures. The first choice stays, because it had vision when it
/// got the pictures; if that has changed since, its own error reports it.
void ContextWindow::drop_choices_without_vision() {
  if (std::ranges::none_of(request_.messages, [](const auto& message) { return !message.images.empty(); })) return;
  AGW_ASSERT(!choices_.empty());
  const auto lacks_vision = [this](const auto& choice) { return !services_.models.info(choice).vision; };
  choices_.erase(std::remove_if(choices_.begin() + 1, choices_.end(), lacks_vision), choices_.end());
}

}  // namespace agw
