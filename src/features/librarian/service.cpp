#include "features/librarian/service.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

#include "base/containers.hpp"
#include "base/text/utf8.hpp"
#include "features/librarian/intent.hpp"
#include "features/librarian/knowledge_pages.hpp"
#include "features/librarian/past_turns.hpp"
#include "features/librarian/reply.hpp"
#include "features/librarian/text.hpp"
#include "features/threads/service.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

/// Long enough to stop between two pieces, and short enough for a typical answer to take a tenth of a second.
constexpr auto pause_between_pieces = 2ms;
constexpr std::size_t max_passages = 4;
constexpr std::size_t max_of_this_thread = 3;
constexpr std::size_t bytes_per_token = 4;

const std::string& question_of(const ModelRequest& request) {
  static const std::string none;
  if (!request.typed.empty()) return request.typed;
  const auto asked =
      std::ranges::find(request.messages.rbegin(), request.messages.rend(), Message::Role::user, &Message::role);
  return asked == request.messages.rend() ? none : asked->text;
}

bool is_first_reply(const ModelRequest& request) {
  return std::ranges::none_of(request.messages,
                              [](const Message& m) { return m.role == Message::Role::assistant && !m.text.empty(); });
}

/// A tool call, and its result.
struct MadeCall {
  const ToolUse& use;
  const Message& result;
};

/// Returns the tool call whose result is the last message apart from instructions.
std::optional<MadeCall> last_call(const ModelRequest& request) {
  const auto end = request.messages.rend();
  const auto is_said = [](const Message& message) { return message.role != Message::Role::system; };
  const auto last = std::find_if(request.messages.rbegin(), end, is_said);
  if (end - last < 2 || last->role != Message::Role::tool || std::next(last)->tool_uses.empty()) return std::nullopt;
  return MadeCall{std::next(last)->tool_uses.front(), *last};
}

std::int64_t input_tokens(const ModelRequest& request) {
  auto tokens = token_estimate(request.system);
  for (const auto& message : request.messages) tokens += token_estimate(message.text);
  return tokens;
}

bool may_be_quoted(const Message& message, const std::vector<std::string>& words) {
  return message.role != Message::Role::tool && !message.text.starts_with(librarian_label) &&
         !only_asks_for(message.text, words);
}

/// Finds the newest matching messages of the request itself. The other sources have more facts about a turn, but no
/// access to threads of other agents, in which this one may have to answer.
std::vector<Passage> find_in_conversation(const ModelRequest& request, const std::vector<std::string>& words,
                                          Match match) {
  std::vector<Passage> found;
  for (const auto& message : request.messages | std::views::reverse | std::views::drop(1)) {
    if (found.size() == max_of_this_thread) break;
    if (message.text == question_of(request) || !may_be_quoted(message, words)) continue;
    if (!matches(message.text, words, match)) continue;
    const auto* speaker = message.role == Message::Role::user ? "you" : "the assistant";
    found.push_back(
        {on_one_line(message.text, max_quote_length), std::string(speaker) + ", earlier in this thread", true});
  }
  return found;
}

/// Returns the passages of this thread, then the others, without duplicates: a forked thread contains copies.
std::vector<Passage> selected(const std::vector<Passage>& found) {
  std::vector<Passage> kept;
  const auto keep = [&](bool of_this_thread, std::size_t max) {
    for (const auto& passage : found) {
      const bool is_copy = contains(kept, passage.text, &Passage::text);
      if (passage.of_this_thread == of_this_thread && !is_copy && kept.size() < max) kept.push_back(passage);
    }
  };
  keep(true, max_of_this_thread);
  keep(false, max_passages);
  return kept;
}

}  // namespace

Librarian::Librarian(std::vector<std::unique_ptr<LibrarySource>> sources) : sources_(std::move(sources)) {}

Task<ModelOutcome> Librarian::answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) {
  if (!last_call(request)) {
    if (auto use = read_tool_request(question_of(request))) {
      use->id = "librarian_" + std::to_string(request.messages.size());
      co_return ModelReply{StopReason::tool_use, {std::move(*use)}, {input_tokens(request), 0}, {}};
    }
  }
  std::vector<std::string> offers;
  const auto text = co_await compose(request, offers);
  const auto allowed = utf8_prefix(text, static_cast<std::size_t>(request.max_output_tokens) * bytes_per_token);
  std::string_view sent = allowed.substr(0, 0);
  const auto usage = [&] { return Usage{input_tokens(request), token_estimate(sent)}; };
  while (sent.size() < allowed.size()) {
    const bool is_stopped =
        sent.empty() ? stop.requested() : co_await pause(stop, pause_between_pieces) != WaitResult::done;
    if (is_stopped) co_return ModelFailure{ModelFailure::Kind::stopped, "offline was stopped", 0, {}, usage()};
    const auto piece = next_piece(allowed.substr(sent.size()));
    sent = allowed.substr(0, sent.size() + piece.size());
    on_delta({Delta::Kind::text, std::string(piece)});
  }
  co_return ModelReply{
      allowed.size() < text.size() ? StopReason::length : StopReason::stop, {}, usage(), {}, std::move(offers)};
}

Task<std::string> Librarian::compose(const ModelRequest& request, std::vector<std::string>& offers) {
  if (const auto call = last_call(request)) {
    co_return reply(tool_answer(call->use, call->result), is_first_reply(request));
  }
  const auto intent = read_intent(question_of(request), !request.typed.empty());
  std::string body;
  switch (intent.kind) {
    case Intent::Kind::explanation:
      offers = suggestions(request.tools);
      body = explanation(offers);
      break;
    case Intent::Kind::summary:
      body = summary(request.messages);
      break;
    case Intent::Kind::note:
      body = acknowledgement(intent.text);
      break;
    case Intent::Kind::echo:
      body = intent.text;
      break;
    case Intent::Kind::search:
      body = co_await look_up(request);
      break;
  }
  co_return reply(body, is_first_reply(request));
}

Task<std::string> Librarian::look_up(const ModelRequest& request) {
  const auto words = search_words(question_of(request));
  for (const auto match : {Match::all, Match::any}) {
    const auto passages = co_await find(request, words, match);
    if (!passages.empty()) co_return quotations(passages, words, match);
    if (words.size() == 1) break;
  }
  std::vector<std::string> searched{"this thread"};
  for (const auto& source : sources_) searched.push_back(source->name());
  co_return not_found(words, searched);
}

Task<std::vector<Passage>> Librarian::find(const ModelRequest& request, const std::vector<std::string>& words,
                                           Match match) {
  std::vector<Passage> found;
  for (const auto& source : sources_) {
    auto more = co_await source->find({.words = words,
                                       .match = match,
                                       .message = question_of(request),
                                       .agent_id = request.agent_id,
                                       .thread_id = request.thread_id});
    std::ranges::move(more, std::back_inserter(found));
  }
  if (std::ranges::none_of(found, &Passage::of_this_thread)) {
    std::ranges::move(find_in_conversation(request, words, match), std::back_inserter(found));
  }
  co_return selected(found);
}

std::unique_ptr<Librarian> make_librarian(Knowledge& knowledge, const Extensions& extensions, Threads& threads) {
  std::vector<std::unique_ptr<LibrarySource>> sources;
  sources.push_back(std::make_unique<KnowledgePages>(knowledge, extensions));
  sources.push_back(
      std::make_unique<PastTurns>([&threads](TurnSearch wanted) { return threads.search(std::move(wanted)); },
                                  [&threads](std::string id) { return threads.require(std::move(id)); }));
  return std::make_unique<Librarian>(std::move(sources));
}

}  // namespace agw
