#include "features/client_api/agent_answers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

using MessageRole = Message::Role;

/// The question may begin at any of this many last messages of the user.
constexpr std::size_t max_shorter_questions = 4;

/// The index of the first of the consecutive messages of that role before `end`.
std::size_t first_before(const std::vector<Message>& messages, std::size_t end, MessageRole role) {
  auto first = end;
  while (first > 0 && messages[first - 1].role == role) --first;
  return first;
}

/// The index of the first of the user's consecutive messages at the end.
std::size_t users_at_end(const std::vector<Message>& messages) {
  return first_before(messages, messages.size(), MessageRole::user);
}

/// The index of the first message of the question: the user's messages at the end, and the tool results right before
/// them, for which no run is waiting.
std::size_t question_in(const std::vector<Message>& messages) {
  return first_before(messages, users_at_end(messages), MessageRole::tool);
}

std::string joined_texts(const std::vector<Message>& messages, std::size_t first) {
  std::string text;
  for (auto i = first; i < messages.size(); ++i) {
    if (!text.empty() && !messages[i].text.empty()) text += "\n\n";
    text += messages[i].text;
  }
  return text;
}

/// The calls and results of a message as text, because tool turns of a thread always belong to runs. In Responses, a
/// result may lack its call, which has the tool's name.
std::string turn_text(const Message& message) {
  const auto& name = message.tool_name;
  if (message.role == MessageRole::tool)
    return fmt::format("[{} returned]\n{}", name.empty() ? "a tool" : name, message.text);
  auto text = message.text;
  for (const auto& use : message.tool_uses)
    text += fmt::format("\n\n[called {} with {}]", use.name, to_json(use.input));
  return text;
}

/// The question as one text, including the results of tools.
std::string question_text(const std::vector<Message>& messages, std::size_t question) {
  const auto first = users_at_end(messages);
  std::string text;
  for (auto i = question; i < first; ++i) text += turn_text(messages[i]) + "\n\n";
  return text + joined_texts(messages, std::max(question, first));
}

Conversation conversation_before(const ClientRequest& request, std::size_t end) {
  AGW_ASSERT(request.picture_digests.size() == request.call.messages.size());
  Conversation conversation;
  for (std::size_t i = 0; i < end; ++i) {
    const auto& message = request.call.messages[i];
    if (message.role != MessageRole::tool) {
      conversation.add(message.role == MessageRole::user ? Role::user : Role::assistant, message.text,
                       request.picture_digests[i]);
    }
  }
  return conversation;
}

bool has_images(const Message& message) { return !message.images.empty(); }

bool says_nothing(std::span<const Message> messages, std::string_view text) {
  return is_blank(text) && std::ranges::none_of(messages, has_images);
}

/// The digests of the user's pictures in the messages from `first` on.
std::vector<std::string> digests_from(const ClientRequest& request, std::size_t first) {
  std::vector<std::string> all;
  for (auto i = first; i < request.picture_digests.size(); ++i)
    std::ranges::copy(request.picture_digests[i], std::back_inserter(all));
  return all;
}

}  // namespace

AgentAnswers::AgentAnswers(Loop& loop, Database& database, Threads& threads, Runs& runs, Attachments& attachments,
                           Engine& engine)
    : loop_(loop),
      threads_(threads),
      runs_(runs),
      attachments_(attachments),
      engine_(engine),
      continued_(database, threads),
      background_(loop) {
  background_.on_failure([](const std::exception_ptr& failure) {
    log::error("the conversation of a program could not be stored: {}", message_of(failure));
  });
}

void AgentAnswers::store_continuation_later(std::shared_ptr<AgentRun> run) {
  background_.spawn(store_continuation_at_end(std::move(run)));
}

Task<> AgentAnswers::store_continuation_at_end(std::shared_ptr<AgentRun> run) {
  co_await run->wait_until_paused();
  co_await store_continuation(run);
}

Task<> AgentAnswers::store_continuation(std::shared_ptr<AgentRun> run) {
  if (!run->has_ended()) co_return;
  const auto at_end = run->take_at_end();
  if (!at_end) co_return;
  try {
    co_await at_end(run->conversation());
  } catch (const std::exception& error) {
    log::error("the conversation of a program could not be stored: {}", error.what());
  }
}

Task<> AgentAnswers::stop() { co_await background_.join(); }

Task<StartedRun> AgentAnswers::start(ExtensionPointer agent, ClientRequest& request) {
  if (auto resumed = co_await resume(request)) co_return std::move(*resumed);
  const auto& messages = request.call.messages;
  auto question = question_in(messages);
  if (question == messages.size() ||
      says_nothing(std::span(messages).subspan(question), question_text(messages, question))) {
    throw bad_parameter(std::string(request.messages_param),
                        "the last message must be of the user and have a text, or be the result of a tool");
  }
  auto found = co_await find_thread(*agent, request, question);
  AGW_ASSERT(question < messages.size());
  auto text = question_text(messages, question);
  if (found.thread_id) co_await end_waiting_run(*found.thread_id);
  if (!found.thread_id && question > 0) found.thread_id = co_await import(*agent, request, question);
  ChatMessage chat{.content = std::move(text), .threadId = found.thread_id, .agentId = agent->id};
  if (messages[question].role == MessageRole::tool)
    chat.metadata = program_text(joined_texts(messages, users_at_end(messages)));
  co_await add_pictures(chat, std::span(messages).subspan(question), digests_from(request, question));
  const bool none =
      request.call.options.tool_choice && request.call.options.tool_choice->kind == ToolChoice::Kind::none;
  ModelRequest part{.system = request.call.system,
                    .tools = none ? std::vector<ToolDescription>() : request.call.tools,
                    .max_output_tokens = request.call.max_output_tokens,
                    .temperature = request.call.temperature,
                    .options = request.call.options};
  auto run = std::make_shared<AgentRun>(loop_, std::move(part));
  const auto turn = co_await engine_.chat(std::move(chat), {}, run);
  if (found.is_complete) {
    run->at_end(conversation_before(request, messages.size()),
                [this, id = agent->id, thread_id = turn.thread_id](const Conversation& whole) {
                  return continued_.store(thread_id, whole.hash(id));
                });
  }
  std::erase_if(open_, [](const auto& entry) { return entry.second.expired(); });
  open_.emplace_back(turn.thread_id, run);
  co_return StartedRun{std::move(run), turn.thread_id};
}

/// Resumes the run that waits for the tool results at the end of the messages, if there is one. What the user says
/// beside them is steered into the run, so that the model reads it after the results.
Task<std::optional<StartedRun>> AgentAnswers::resume(ClientRequest& request) {
  const auto& messages = request.call.messages;
  const auto after = users_at_end(messages);
  if (after == 0 || messages[after - 1].role != MessageRole::tool) co_return std::nullopt;
  StartedRun resumed;
  for (const auto& [thread_id, open] : open_) {
    const auto run = open.lock();
    if (run && run->waits_for(messages[after - 1].tool_call_id)) resumed = {run, thread_id};
  }
  if (!resumed.run) co_return std::nullopt;
  resumed.run->take_results(messages);
  try {
    co_await steer(resumed, request);
  } catch (...) {
    resumed.run->wait_again();
    throw;
  }
  resumed.run->resume();
  co_return resumed;
}

Task<> AgentAnswers::steer(const StartedRun& run, ClientRequest& request) {
  auto& messages = request.call.messages;
  auto first = messages.size();
  while (first > 0 && messages[first - 1].role != MessageRole::assistant) --first;
  const auto digests = digests_from(request, first);
  std::vector<Message> said;
  for (; first < messages.size(); ++first) {
    if (messages[first].role == MessageRole::user) said.push_back(std::move(messages[first]));
  }
  const auto text = joined_texts(said, 0);
  if (says_nothing(said, text)) co_return;
  ChatMessage chat{.content = text, .threadId = run.thread_id, .delivery = Delivery::steer};
  co_await add_pictures(chat, said, digests);
  if (const auto active = runs_.front(run.thread_id)) chat.agentId = active->run.agent_id;
  co_await engine_.chat(std::move(chat));
  run.run->add_said(text, digests);
}

/// Stores the pictures of the messages, and adds them.
Task<> AgentAnswers::add_pictures(ChatMessage& chat, std::span<const Message> messages,
                                  const std::vector<std::string>& digests) {
  const auto files = co_await store_pictures(messages);
  if (files.empty()) co_return;
  if (!chat.metadata) chat.metadata.emplace();
  add_program_pictures(*chat.metadata, digests);
  chat.attachments.emplace();
  for (const auto& file : files) chat.attachments->push_back(file.id);
}

/// Finds the thread, and moves `question` past the messages that it already contains. These can include messages of the
/// user if the thread's last answer was empty, because many programs omit empty answers.
Task<AgentAnswers::FoundThread> AgentAnswers::find_thread(const Extension& agent, const ClientRequest& request,
                                                          std::size_t& question) {
  if (request.thread_id) {
    try {
      const auto thread = co_await threads_.require(*request.thread_id);
      if (thread.agent_id != agent.id)
        throw client_error(409, "the thread is of another agent", request.thread_param, "thread_of_another_agent");
      co_return FoundThread{.thread_id = thread.id, .is_complete = false};
    } catch (const NotFound&) {
      throw client_error(404, "thread not found", request.thread_param, "thread_not_found");
    }
  }
  if (auto thread = co_await find_continued(agent, request, question)) co_return FoundThread{std::move(thread)};
  const auto& messages = request.call.messages;
  if (messages.back().role != MessageRole::user) co_return FoundThread{};
  const auto first = std::max(question + 1, messages.size() - std::min(messages.size(), max_shorter_questions));
  AGW_ASSERT(first > 0);  // the loop ends
  for (auto later = messages.size() - 1; later >= first; --later) {
    if (auto thread = co_await find_continued(agent, request, later)) {
      question = later;
      co_return FoundThread{std::move(thread)};
    }
  }
  co_return FoundThread{};
}

/// The thread that consists of exactly the messages before `question`.
Task<std::optional<std::string>> AgentAnswers::find_continued(const Extension& agent, const ClientRequest& request,
                                                              std::size_t question) {
  auto before = conversation_before(request, question);
  if (before.empty()) co_return std::nullopt;
  co_return co_await continued_.find(agent.id, std::move(before));
}

/// Creates a thread with the conversation so far.
Task<std::string> AgentAnswers::import(const Extension& agent, const ClientRequest& request, std::size_t question) {
  AGW_ASSERT(question > 0);
  const auto thread = co_await threads_.create({.agent_id = agent.id});
  constexpr std::size_t max_batch = 200;  // turns whose events the loop publishes without a pause
  std::vector<AddTurn> batch;
  for (std::size_t i = 0; i < question; ++i) {
    const auto& message = request.call.messages[i];
    const bool is_users = message.role == MessageRole::user;
    const bool has_calls = message.role == MessageRole::tool || !message.tool_uses.empty();
    json::object metadata;
    if (has_calls) metadata = program_text(message.role == MessageRole::tool ? std::string() : message.text);
    metadata["imported"] = true;
    const auto files = co_await store_pictures({&message, 1});
    auto pictures = metadata;
    auto& shows = is_users ? metadata : pictures;
    if (!files.empty()) shows["attachments"] = attachment_list(files);
    add_program_pictures(shows, request.picture_digests[i]);
    batch.push_back({.thread_id = thread.id,
                     .role = is_users ? Role::user : Role::assistant,
                     .content = turn_text(message),
                     .metadata = std::move(metadata)});
    if (!files.empty() && !is_users) {
      // Models are shown only pictures of the user.
      batch.push_back({.thread_id = thread.id,
                       .role = Role::user,
                       .content = "The pictures of the result above.",
                       .metadata = std::move(pictures)});
    }
    if (batch.size() >= max_batch || i + 1 == question) co_await threads_.add_turns(std::exchange(batch, {}));
  }
  AGW_ASSERT(batch.empty());
  co_return thread.id;
}

Task<std::vector<Attachment>> AgentAnswers::store_pictures(std::span<const Message> messages) {
  std::vector<Attachment> files;
  for (const auto& message : messages) {
    for (const auto& image : message.images) {
      const auto name = fmt::format("picture.{}", image.mime.substr(image.mime.find('/') + 1));
      files.push_back(co_await attachments_.add(name, image.mime, image.bytes));
    }
  }
  co_return files;
}

/// Stops a run that waits for tool results: a program that asks a new question will not send them.
Task<> AgentAnswers::end_waiting_run(std::string thread_id) {
  for (const auto& active : runs_.of_thread(thread_id)) {
    if (active->client && active->client->waits_for_request()) co_await engine_.stop_run(active);
  }
}

}  // namespace agw
