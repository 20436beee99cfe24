#include "features/context/model_request.hpp"

#include <algorithm>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "features/context/history.hpp"
#include "features/context/types.hpp"
#include "tools/input.hpp"

namespace agw {

namespace {

constexpr std::int64_t spare_tokens = 1'000;
constexpr std::int64_t min_context = 2'000;
constexpr std::int64_t usual_output = 8'192;
// A window has a budget once it is loaded (ContextWindow::is_loaded).
static_assert(min_context > 0);

bool is_empty(const Message& message) { return message.images.empty() && is_invisible(message.text); }

/// The text that the model was given when the message was new. Only of commands: `metadata` is not trusted otherwise.
std::string_view asked_text(const Turn& turn) {
  const bool is_command = turn.role == Role::user && turn.metadata && turn.content.starts_with('/');
  return is_command ? string_member(*turn.metadata, expanded_member).value_or(turn.content) : turn.content;
}

}  // namespace

std::size_t context_budget(const ModelInfo& model, std::int64_t max_output_tokens, std::int64_t prompt_tokens) {
  const auto taken = max_output_tokens + prompt_tokens + spare_tokens;
  const auto tokens = std::max(model.context_window - taken, min_context);
  return static_cast<std::size_t>(tokens * bytes_per_token);
}

std::int64_t window_of(std::size_t context_budget, std::int64_t max_output_tokens, std::int64_t prompt_tokens) {
  return static_cast<std::int64_t>(context_budget) / bytes_per_token + max_output_tokens + prompt_tokens + spare_tokens;
}

std::int64_t output_limit(const Extension& agent, const ModelInfo& model) {
  const auto usual = std::min(usual_output, model.max_output_tokens);
  return number_input(agent.definition.members(), "max_output_tokens", usual, 1, model.max_output_tokens);
}

std::optional<Message> user_message(const Turn& turn, const std::optional<std::string>& text,
                                    const AttachedFiles& files) {
  if (turn.content.empty() && !has_attachments(turn)) return std::nullopt;
  Message message;
  message.text = text ? *text : asked_text(turn);
  add_attached_files(message, turn, files);
  return message;
}

ModelRequest model_request(const Extension& agent, const std::vector<Turn>& turns,
                           const std::optional<std::string>& message, const AttachedFiles& files,
                           const AnswerThoughts& thoughts) {
  const auto& definition = agent.definition.members();
  ModelRequest request;
  request.agent_id = agent.id;
  if (const auto* temperature = definition.if_contains("temperature"); temperature && temperature->is_number()) {
    request.temperature = temperature->to_number<double>();
  }
  request.messages.reserve(turns.size());
  ToolHistory history(turns, [&files](const Turn& turn) { return user_message(turn, std::nullopt, files); }, &thoughts);
  for (const auto& turn : turns) {
    if (turn.role == Role::assistant) history.add_messages_of(turn, request.messages);
    if (turn.role == Role::assistant || turn.role == Role::tool || history.is_in_answer(turn)) continue;
    const bool is_question = &turn == &turns.back();
    if (turn.content.empty() && !has_attachments(turn) && !is_question) continue;
    // A system turn within a conversation is a note to the agent. Providers accept it only as a message of the user.
    auto& made = request.messages.emplace_back();
    made.text = is_question ? turn.content : asked_text(turn);
    if (message && is_question) request.typed = std::exchange(made.text, *message);
    add_attached_files(made, turn, files);
    if (is_question && is_empty(made)) {
      // Without a question, services refuse the conversation or continue the last answer.
      request.typed = " ";
      made.text = "(an empty message)";
    }
  }
  // The last turn is the question, and is never left out.
  AGW_DEBUG_ASSERT(turns.empty() || !request.messages.empty());
  if (!turns.empty()) request.thread_id = turns.back().thread_id;
  return request;
}

}  // namespace agw
