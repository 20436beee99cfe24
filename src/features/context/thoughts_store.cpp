#include "features/context/thoughts_store.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "features/context/service.hpp"

namespace agw::thoughts_store {

namespace {

constexpr std::size_t max_of_answer = 256 * 1024;
constexpr std::size_t max_of_thread = 1024 * 1024;
// The newest answer alone always fits.
static_assert(max_of_answer <= max_of_thread);

/// How many of the oldest to leave out, so that the others have at most `limit` bytes. Leaves out portions of three
/// quarters of the limit at a time.
std::size_t left_out(const std::vector<Size>& sizes, std::size_t limit) {
  const auto total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0},
                                     [](std::size_t sum, const Size& size) { return sum + size.second; });
  if (total <= limit) return 0;
  const auto piece = std::max<std::size_t>(limit / 4 * 3, 1);
  const auto wanted = (total - limit + piece - 1) / piece * piece;
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (; count < sizes.size() && bytes < wanted; ++count) bytes += sizes[count].second;
  AGW_ASSERT(total - bytes <= limit);
  return count;
}

std::vector<StepThoughts> read_thoughts(std::string_view text) {
  std::vector<StepThoughts> thoughts;
  auto entries = parse_stored_json(text);
  for (auto& entry : entries.as_array()) {
    auto& members = entry.as_object();
    thoughts.push_back({members.at("step").to_number<std::int64_t>(), string_or_empty(members, "model"),
                        std::move(members.at("blocks").as_array())});
  }
  return thoughts;
}

std::string write_thoughts(const std::vector<StepThoughts>& thoughts) {
  json::array entries;
  for (const auto& one : thoughts)
    entries.push_back(json::object{{"step", one.step}, {"model", one.model}, {"blocks", one.blocks}});
  return to_json(entries);
}

void remove_answer(Connection& connection, const std::string& turn_id) {
  connection.prepare("DELETE FROM answer_thoughts WHERE turn_id = :turn").bind(":turn", turn_id).run();
}

}  // namespace

void put(Connection& connection, const std::string& thread_id, const std::string& turn_id, const std::string& model,
         const std::vector<StepThoughts>& thoughts) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!turn_id.empty());
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(thoughts, {}, &StepThoughts::step));
  connection.prepare("DELETE FROM answer_thoughts WHERE thread_id = :thread AND model <> :model")
      .bind(":thread", thread_id)
      .bind(":model", model)
      .run();
  if (thoughts.empty()) return;
  const auto text = write_thoughts(thoughts);
  if (text.size() > max_of_answer) return;
  remove_answer(connection, turn_id);
  connection
      .prepare(
          "INSERT INTO answer_thoughts (turn_id, thread_id, model, bytes, thoughts) VALUES (:turn, :thread, :model, "
          ":bytes, :thoughts)")
      .bind(":turn", turn_id)
      .bind(":thread", thread_id)
      .bind(":model", model)
      .bind(":bytes", static_cast<std::int64_t>(text.size()))
      .bind(":thoughts", text)
      .run();
  const auto stored = sizes(connection, thread_id, model);
  for (std::size_t i = 0, end = left_out(stored, max_of_thread); i < end; ++i)
    remove_answer(connection, stored[i].first);
}

std::vector<Size> sizes(Connection& connection, const std::string& thread_id, const std::string& model) {
  std::vector<Size> sizes;
  // Ids of turns sort by time.
  auto rows = connection.prepare(
      "SELECT turn_id, bytes FROM answer_thoughts WHERE thread_id = :thread AND model = :model ORDER BY turn_id");
  rows.bind(":thread", thread_id).bind(":model", model);
  while (rows.step()) sizes.emplace_back(rows.string(0), static_cast<std::size_t>(rows.integer(1)));
  return sizes;
}

Found list(Connection& connection, const std::vector<Size>& answers, std::size_t limit) {
  Found found;
  for (auto i = left_out(answers, limit); i < answers.size(); ++i) {
    auto row = connection.prepare("SELECT thoughts FROM answer_thoughts WHERE turn_id = :turn");
    row.bind(":turn", answers[i].first);
    if (!row.step()) continue;
    found.answers.emplace(answers[i].first, read_thoughts(row.text(0)));
    found.bytes += answers[i].second;
  }
  AGW_ASSERT(found.bytes <= limit);
  return found;
}

void forget(Connection& connection, const std::string& thread_id) {
  connection.prepare("DELETE FROM answer_thoughts WHERE thread_id = :thread").bind(":thread", thread_id).run();
}

}  // namespace agw::thoughts_store

namespace agw {

void store_thoughts(Connection& connection, const std::string& thread_id, const std::string& turn_id,
                    const std::string& model, const std::vector<StepThoughts>& thoughts) {
  thoughts_store::put(connection, thread_id, turn_id, model, thoughts);
}

void copy_thoughts_to_fork(Connection& connection, const Fork& fork) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(fork.copy_id != fork.original_id);
  std::vector<std::string> answers;
  auto rows = connection.prepare("SELECT turn_id FROM answer_thoughts WHERE thread_id = :thread");
  rows.bind(":thread", fork.original_id);
  while (rows.step()) answers.push_back(rows.string(0));
  for (const auto& answer : answers) {
    const auto copy = fork.copy_of(answer);
    if (!copy) continue;
    connection
        .prepare(
            "INSERT INTO answer_thoughts (turn_id, thread_id, model, bytes, thoughts) "
            "SELECT :copy, :thread, model, bytes, thoughts FROM answer_thoughts WHERE turn_id = :answer")
        .bind(":copy", *copy)
        .bind(":thread", fork.copy_id)
        .bind(":answer", answer)
        .run();
    // It was read in this transaction.
    AGW_ASSERT(connection.changes() == 1);
  }
}

}  // namespace agw
