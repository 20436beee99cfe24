// How turns are read, found, walked (as a model sees them, newest first), marked (superseded, steered) and copied for a
// fork. new_turn_store.cpp inserts them; turn_order_store has their order.
//
// Prepared statements are cached by their text. Texts are statics, because building one costs more than the look-up.

#include "features/threads/turn_store.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "features/threads/thread_store.hpp"
#include "features/threads/turn_order_store.hpp"
#include "features/threads/types.hpp"
#include "storage/columns.hpp"

namespace agw::turn_store {

namespace {

constexpr int turns_per_page = 200;
constexpr std::string_view from = "turns JOIN threads ON threads.number = turns.thread";

void parsed_content(StoredTurn& stored, const Statement& row, int column) {
  stored.turn.content = row.text(column);
  stored.bytes += stored.turn.content.size();
}

void read_metadata(StoredTurn& stored, const Statement& row, int column) {
  const auto text = row.text(column);
  if (!text.empty()) stored.turn.metadata = std::move(parse_stored_json(text).as_object());
  stored.bytes += text.size();
}

/// Must be called after reading the metadata, of which clients see `superseded` as a member.
void read_superseded(StoredTurn& stored, const Statement& row, int column) {
  if (!row.boolean(column)) return;
  if (!stored.turn.metadata) stored.turn.metadata.emplace();
  (*stored.turn.metadata)["superseded"] = true;
}

constexpr auto turn_columns = columns_of<StoredTurn>(
    Column{"turns.number", &StoredTurn::number}, Column{"turns.thread", &StoredTurn::thread},
    Column{"turns.answers", &StoredTurn::answers},
    Column{"turns.id", [](auto& stored) -> auto& { return stored.turn.id; }},
    Column{"threads.id", [](auto& stored) -> auto& { return stored.turn.thread_id; }},
    Column{"role", [](auto& stored) -> auto& { return stored.turn.role; }, Role::user},
    Column{"content", parsed_content}, Column{"metadata", read_metadata}, Column{"superseded", read_superseded},
    Column{"turns.created_at", [](auto& stored) -> auto& { return stored.turn.created_at; }});

/// Each text is created once: building it costs more than finding its prepared statement.
std::string select(std::string_view where) {
  return fmt::format("SELECT {} FROM {} WHERE {}", turn_columns.names(), from, where);
}

json::object stored_metadata(const Statement& row, int column) {
  if (row.text(column).empty()) return {};
  return std::move(parse_stored_json(row.text(column)).as_object());
}

void change_metadata(Connection& connection, std::int64_t turn, const std::function<void(json::object&)>& change) {
  auto row = connection.prepare("SELECT metadata FROM turns WHERE number = :number");
  row.bind(":number", turn);
  if (!row.step()) return;
  auto metadata = stored_metadata(row, 0);
  change(metadata);
  connection.prepare("UPDATE turns SET metadata = :metadata WHERE number = :number")
      .bind(":metadata", to_json(json::value(std::move(metadata))))
      .bind(":number", turn)
      .run();
}

std::int64_t number_before(Connection& connection, std::int64_t thread, const std::optional<std::string>& turn_id) {
  if (!turn_id) return std::numeric_limits<std::int64_t>::max();
  auto row = connection.prepare("SELECT number FROM turns WHERE id = :id AND thread = :thread");
  row.bind(":id", *turn_id).bind(":thread", thread);
  if (!row.step()) throw BadRequest("before must be a turn of this thread");
  return row.integer(0);
}

/// Maps the numbers and ids of original turns to those of their copies.
struct Renamed {
  std::map<std::int64_t, std::int64_t> numbers;
  std::map<std::string, std::string> ids;

  std::optional<std::string> metadata(std::optional<std::string> text) const {
    for (const std::string_view member : {"in_reply_to", "replaces"}) {
      if (!text || text->find(member) == text->npos) continue;
      auto metadata = parse_stored_json(*text);
      auto* turn = metadata.get_object().if_contains(member);
      const auto known = turn && turn->is_string() ? ids.find(std::string(turn->get_string())) : ids.end();
      if (known == ids.end()) continue;
      *turn = known->second;
      text = to_json(metadata);
    }
    return text;
  }
};

void copy_one(Connection& connection, std::int64_t original, const std::string& id, std::int64_t thread,
              Renamed& renamed) {
  auto row = connection.prepare(
      "SELECT id, role, created_at, answers, superseded, content, metadata FROM turns WHERE number = :number");
  row.bind(":number", original);
  if (!row.step()) return;
  const auto answers = row.optional_integer(3);
  const auto question = answers ? renamed.numbers.find(*answers) : renamed.numbers.end();
  auto copy = connection.prepare(
      "INSERT INTO turns (id, thread, role, created_at, answers, superseded, content, metadata) VALUES (:id, "
      ":thread, :role, :created_at, :answers, :superseded, :content, :metadata) RETURNING number");
  copy.bind(":id", id)
      .bind(":thread", thread)
      .bind(":role", row.text(1))
      .bind(":created_at", row.time(2))
      .bind(":answers", question == renamed.numbers.end() ? std::nullopt : std::optional(question->second))
      .bind(":superseded", row.boolean(4))
      .bind(":content", row.text(5))
      .bind(":metadata", renamed.metadata(row.optional_string(6)))
      .step();
  // So the copies are in the order of the originals, and after them.
  AGW_DEBUG_ASSERT(copy.integer(0) > original);
  renamed.numbers[original] = copy.integer(0);
  turn_order_store::enter(connection, thread, copy.integer(0));
  renamed.ids[row.string(0)] = id;
}

/// The data of a copied turn that decide whether it was superseded earlier.
struct Copied {
  std::int64_t number = 0;
  std::optional<std::int64_t> answers;
  bool superseded = false;
  std::string run;                       ///< the run that created it, else the turn's own id
  std::optional<std::int64_t> replaces;  ///< the question that this turn is an edited version of

  std::int64_t place() const { return answers.value_or(number); }
};

std::vector<Copied> copied(Connection& connection, std::int64_t thread) {
  std::vector<Copied> turns;
  std::map<std::string, std::int64_t> numbers;  // numbers of the turns read, by id
  auto row = connection.prepare(
      "SELECT number, id, answers, superseded, metadata FROM thread_turns CROSS JOIN turns WHERE number = turn AND "
      "thread_turns.thread = :thread ORDER BY number");
  row.bind(":thread", thread);
  while (row.step()) {
    const auto metadata = stored_metadata(row, 4);
    auto run = string_or_empty(metadata, "run_id");
    const auto replaced = numbers.find(string_or_empty(metadata, "replaces"));
    turns.push_back({row.integer(0), row.optional_integer(2), row.boolean(3),
                     run.empty() ? row.string(1) : std::move(run),
                     replaced == numbers.end() ? std::nullopt : std::optional(replaced->second)});
    numbers.emplace(row.string(1), row.integer(0));
  }
  return turns;
}

/// The numbers of turns that were superseded before the last one was inserted: if a second run answered a question, the
/// question was asked again, and every turn after it is superseded. An edited question supersedes the one before it,
/// too.
std::set<std::int64_t> superseded_then(const std::vector<Copied>& turns) {
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(turns, {}, &Copied::number));
  std::set<std::int64_t> superseded;
  std::map<std::int64_t, std::string> last_runs;  // ids of runs, by the question they answered
  for (auto turn = turns.begin(); turn != turns.end(); ++turn) {
    const auto question = turn->replaces ? turn->replaces : turn->answers;
    if (!question) continue;
    if (!turn->replaces) {
      const auto before = std::exchange(last_runs[*question], turn->run);
      if (before.empty() || before == turn->run) continue;
    }
    for (auto earlier = turns.begin(); earlier != turn; ++earlier) {
      if (earlier->place() >= *question) superseded.insert(earlier->number);
    }
    if (!turn->replaces) superseded.erase(*question);
  }
  return superseded;
}

}  // namespace

std::optional<StoredTurn> find(Connection& connection, std::int64_t number) {
  static const auto sql = select("turns.number = :number");
  auto row = connection.prepare(sql);
  row.bind(":number", number);
  if (!row.step()) return std::nullopt;
  return turn_columns.read(row);
}

std::optional<StoredTurn> find(Connection& connection, const std::string& id) {
  static const auto sql = select("turns.id = :id");
  auto row = connection.prepare(sql);
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return turn_columns.read(row);
}

StoredTurn require(Connection& connection, const std::string& id) {
  auto found = find(connection, id);
  if (!found) throw turn_not_found();
  return *std::move(found);
}

void list(Connection& connection, const std::string& thread_id, const TurnFilter& filter,
          const std::function<void(const Turn&)>& each) {
  static const auto sql = select(
      "turns.number = :number AND (:role IS NULL OR role = :role) AND (:since IS NULL OR turns.created_at > :since)");
  const auto thread = thread_store::require(connection, thread_id).number;
  turn_order_store::NewestFirst numbers(connection, thread, number_before(connection, thread, filter.before));
  for (auto left = filter.limit.value; left > 0;) {
    const auto number = numbers.next();
    if (!number) return;
    auto row = connection.prepare(sql);
    row.bind(":number", *number)
        .bind(":role", filter.role ? std::optional(to_text(*filter.role)) : std::nullopt)
        .bind(":since", filter.since);
    if (!row.step()) continue;
    each(turn_columns.read(row).turn);
    --left;
  }
}

Thread remove(Connection& connection, const StoredTurn& stored, std::int64_t moment) {
  static const auto sql = fmt::format(
      "UPDATE threads SET turn_count = turn_count - 1, updated = CASE WHEN updated < :moment THEN :moment ELSE updated "
      "END WHERE number = :thread RETURNING {}",
      thread_store::columns());
  connection.prepare("DELETE FROM turns WHERE number = :number").bind(":number", stored.number).run();
  // Otherwise its thread would have lost one that is still there.
  AGW_ASSERT(connection.changes() == 1);
  turn_order_store::remove(connection, stored.thread, stored.number);
  auto row = connection.prepare(sql);
  row.bind(":moment", moment).bind(":thread", stored.thread);
  AGW_CHECK(row.step(), "the thread of a turn is missing: " + stored.turn.thread_id);
  auto thread = thread_store::read(row).thread;
  AGW_CHECK(thread.turn_count >= 0, "a thread has fewer turns than were counted: " + thread.id);
  return thread;
}

void walk_back(Connection& connection, const StoredTurn& question, const std::function<bool(StoredTurn)>& more) {
  // Excludes the turns of the run that is answering the question.
  static const std::string is_shown =
      "(turns.number = :question OR (superseded = 0 AND coalesce(answers, turns.number) < :question))";
  static const auto in_row = select("turns.number = :number AND " + is_shown);
  for (const auto number : turn_order_store::newest_in_row(connection, question.thread)) {
    auto row = connection.prepare(in_row);
    row.bind(":number", number).bind(":question", question.number);
    if (row.step() && !more(turn_columns.read(row))) return;
  }
  // Reads pages, because a server sends all rows of a statement.
  static const auto entered = fmt::format(
      "SELECT {} FROM threads CROSS JOIN turn_order CROSS JOIN turns WHERE turn_order.thread = threads.number AND "
      "turns.number = turn_order.turn AND threads.number = :thread AND turn_order.turn < :below AND {} ORDER BY "
      "turn_order.turn DESC LIMIT :limit",
      turn_columns.names(), is_shown);
  auto below = std::numeric_limits<std::int64_t>::max();
  for (int read = turns_per_page; read == turns_per_page;) {
    auto row = connection.prepare(entered);
    row.bind(":thread", question.thread).bind(":question", question.number).bind(":below", below);
    row.bind(":limit", turns_per_page);
    for (read = 0; row.step(); ++read) {
      auto turn = turn_columns.read(row);
      // So the pages end.
      AGW_ASSERT(turn.number < below);
      below = turn.number;
      if (!more(std::move(turn))) return;
    }
  }
}

std::int64_t count_up_to(Connection& connection, const StoredTurn& last) {
  auto row = connection.prepare(
      "SELECT count(*) FROM thread_turns CROSS JOIN turns WHERE number = turn AND thread_turns.thread = :thread AND "
      "superseded = 0 AND (coalesce(answers, number) < :place OR (coalesce(answers, number) = :place AND number <= "
      ":number))");
  row.bind(":thread", last.thread).bind(":place", last.place()).bind(":number", last.number);
  row.step();
  return row.integer(0);
}

std::optional<StoredTurn> user_turn_before(Connection& connection, const StoredTurn& stored) {
  static const auto sql = select("turns.number = :number AND role = 'user'");
  turn_order_store::NewestFirst numbers(connection, stored.thread, stored.number);
  while (const auto number = numbers.next()) {
    auto row = connection.prepare(sql);
    row.bind(":number", *number);
    if (row.step()) return turn_columns.read(row);
  }
  return std::nullopt;
}

std::optional<StoredTurn> newest_answer(Connection& connection, const StoredTurn& question) {
  static const auto sql = select("turns.number = :number AND answers = :question AND role = 'assistant'");
  turn_order_store::NewestFirst numbers(connection, question.thread);
  for (auto number = numbers.next(); number && *number > question.number; number = numbers.next()) {
    auto row = connection.prepare(sql);
    row.bind(":number", *number).bind(":question", question.number);
    if (row.step()) return turn_columns.read(row);
  }
  return std::nullopt;
}

void supersede_after(Connection& connection, const StoredTurn& question) {
  AGW_CHECK(question.turn.role == Role::user, "only a question is asked anew: " + question.turn.id);
  connection
      .prepare(
          "UPDATE turns SET superseded = CASE WHEN number = :question THEN 0 ELSE 1 END WHERE number IN (SELECT turn "
          "FROM thread_turns WHERE thread = :thread AND turn >= :question) AND (answers IS NULL OR answers >= "
          ":question) AND superseded <> CASE WHEN number = :question THEN 0 ELSE 1 END")
      .bind(":thread", question.thread)
      .bind(":question", question.number)
      .run();
}

void steer(Connection& connection, const StoredTurn& stored, const SteeredPlace& place) {
  AGW_ASSERT(stored.turn.role == Role::user);
  AGW_ASSERT(place.after_step >= 0);
  AGW_ASSERT(place.question_id != stored.turn.id);
  connection
      .prepare("UPDATE turns SET answers = (SELECT number FROM turns WHERE id = :question) WHERE number = :number")
      .bind(":question", place.question_id)
      .bind(":number", stored.number)
      .run();
  AGW_ASSERT(connection.changes() == 1);
  change_metadata(connection, stored.number, [&](json::object& metadata) {
    metadata["run_id"] = place.run_id;
    metadata["after_step"] = place.after_step;
  });
}

void make_question(Connection& connection, const StoredTurn& stored) {
  if (!stored.answers || stored.turn.role != Role::user) return;
  connection.prepare("UPDATE turns SET answers = NULL WHERE number = :number").bind(":number", stored.number).run();
  change_metadata(connection, stored.number, [](json::object& metadata) {
    metadata.erase("run_id");
    metadata.erase("after_step");
  });
}

std::set<std::string, std::less<>> tool_calls(Connection& connection, const std::string& thread_id,
                                              const std::string& run_id) {
  std::set<std::string, std::less<>> ids;
  auto row = connection.prepare(
      "SELECT metadata FROM thread_turns CROSS JOIN turns WHERE number = turn AND thread_turns.thread = (SELECT number "
      "FROM threads WHERE id = :thread) AND role = 'tool'");
  row.bind(":thread", thread_id);
  while (row.step()) {
    const auto metadata = stored_metadata(row, 0);
    auto id = string_or_empty(metadata, "tool_call_id");
    if (!id.empty() && string_or_empty(metadata, "run_id") == run_id) ids.insert(std::move(id));
  }
  return ids;
}

std::vector<std::int64_t> numbers(Connection& connection, std::int64_t thread, std::int64_t last) {
  std::vector<std::int64_t> found;
  auto row = connection.prepare("SELECT turn FROM thread_turns WHERE thread = :thread AND turn <= :last ORDER BY turn");
  row.bind(":thread", thread).bind(":last", last);
  while (row.step()) found.push_back(row.integer(0));
  return found;
}

void copy(Connection& connection, const std::vector<std::int64_t>& numbers, const std::vector<std::string>& ids,
          std::int64_t thread) {
  AGW_ASSERT(numbers.size() <= ids.size());
  AGW_ASSERT(std::ranges::is_sorted(numbers));
  Renamed renamed;
  for (std::size_t i = 0; i < numbers.size(); ++i) copy_one(connection, numbers[i], ids.at(i), thread, renamed);
}

void restore_to_last(Connection& connection, std::int64_t thread) {
  const auto turns = copied(connection, thread);
  if (turns.empty() || !turns.back().superseded) return;
  const auto still = superseded_then(turns);
  for (const auto& turn : turns) {
    if (!turn.superseded || still.contains(turn.number)) continue;
    connection.prepare("UPDATE turns SET superseded = 0 WHERE number = :number").bind(":number", turn.number).run();
  }
}

}  // namespace agw::turn_store
