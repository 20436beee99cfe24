#include "features/librarian/past_turns.hpp"

#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/json/json_values.hpp"
#include "base/time/time.hpp"
#include "features/librarian/text.hpp"
#include "models/catalog.hpp"

namespace agw {

namespace {

/// Large, because many hits are not quoted: similar questions, and the librarian's own answers.
constexpr int turns_searched = 200;
constexpr std::size_t max_thread_title_length = 80;

std::string_view model_of(const Turn& turn) {
  return turn.metadata ? string_member(*turn.metadata, "model").value_or("") : "";
}

bool is_superseded(const Turn& turn) { return turn.metadata && is_true(*turn.metadata, "superseded"); }

bool is_of_librarian(const Turn& turn) {
  return model_of(turn) == fmt::format("{}/{}", offline_provider, offline_model);
}

bool may_be_quoted(const Turn& turn, const LibraryQuestion& question) {
  return turn.role != Role::tool && turn.content != question.message && !is_superseded(turn) &&
         !is_of_librarian(turn) && !only_asks_for(turn.content, question.words);
}

std::string speaker(const Turn& turn) {
  if (turn.role == Role::user) return "you";
  if (turn.role == Role::system) return "a system note";
  return model_of(turn).empty() ? "the assistant" : fmt::format("the assistant ({})", model_of(turn));
}

std::string minute(Timestamp time) {
  const auto text = to_iso8601(time);
  return fmt::format("{} {} UTC", text.substr(0, 10), text.substr(11, 5));
}

}  // namespace

PastTurns::PastTurns(Search search, RequireThread require_thread)
    : search_(std::move(search)), require_thread_(std::move(require_thread)) {}

std::string PastTurns::name() const { return "the turns of this agent's threads"; }

Task<std::vector<Passage>> PastTurns::find(LibraryQuestion question) {
  TurnSearch wanted;
  wanted.q = search_query(question.words, question.match);
  wanted.agent_id = question.agent_id;
  wanted.limit = Limit{turns_searched};
  const auto turns = co_await search_(std::move(wanted));

  std::vector<Passage> found;
  // Turns of this thread first, so that the limit does not drop them.
  for (const bool of_this_thread : {true, false}) {
    for (const auto& turn : turns) {
      if (found.size() == question.limit) break;
      if ((turn.thread_id == question.thread_id) != of_this_thread || !may_be_quoted(turn, question)) continue;
      if (auto passage = co_await passage_of(turn, of_this_thread)) found.push_back(std::move(*passage));
    }
  }
  co_return found;
}

Task<std::optional<Passage>> PastTurns::passage_of(const FoundTurn& turn, bool of_this_thread) {
  const auto where = of_this_thread ? "in this thread" : co_await place(turn.thread_id);
  if (where.empty()) co_return std::nullopt;
  co_return Passage{.text = turn.content.size() <= max_quote_length ? turn.content : turn.snippet,
                    .source = fmt::format("{}, {}, {}", speaker(turn), minute(turn.created_at), where),
                    .of_this_thread = of_this_thread};
}

Task<std::string> PastTurns::place(std::string thread_id) {
  try {
    const auto thread = co_await require_thread_(std::move(thread_id));
    co_return fmt::format("in “{}” (thread `{}`)", on_one_line(thread.title, max_thread_title_length), thread.id);
  } catch (const NotFound&) {
    co_return "";
  }
}

}  // namespace agw
