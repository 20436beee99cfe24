#include "features/runs/store.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "storage/columns.hpp"

namespace agw::run_store {

namespace {

constexpr auto run_columns =
    columns_of<Run>(Column{"id", &Run::id}, Column{"thread_id", &Run::thread_id}, Column{"turn_id", &Run::turn_id},
                    Column{"assistant_turn_id", &Run::assistant_turn_id}, Column{"agent_id", &Run::agent_id},
                    Column{"run_order", [](Run& run, const Statement& row, int column) {
                             auto order = parse_json(row.text(column));
                             if (order && order->is_object()) run.order = std::move(order->get_object());
                           }});

std::vector<RunStep> read_steps(Connection& connection, const std::string& run_id) {
  std::vector<RunStep> steps;
  auto rows = connection.prepare("SELECT text_end, calls FROM run_steps WHERE run_id = :run ORDER BY number");
  rows.bind(":run", run_id);
  while (rows.step()) {
    steps.push_back({rows.integer(0), std::move(parse_stored_json(rows.text(1)).as_array())});
  }
  return steps;
}

}  // namespace

void insert(Connection& connection, const Run& run, Timestamp now) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!run.id.empty());
  AGW_ASSERT(!run.thread_id.empty());
  AGW_ASSERT(!run.turn_id.empty());
  AGW_ASSERT(run.assistant_turn_id != run.turn_id);
  connection
      .prepare(
          "INSERT INTO runs (id, thread_id, turn_id, assistant_turn_id, agent_id, run_order, status, created_at) "
          "VALUES (:id, :thread, :turn, :assistant_turn, :agent, :order, 'started', :now)")
      .bind(":id", run.id)
      .bind(":thread", run.thread_id)
      .bind(":turn", run.turn_id)
      .bind(":assistant_turn", run.assistant_turn_id)
      .bind(":agent", run.agent_id)
      .bind(":order", to_json(json::value(run.order)))
      .bind(":now", now)
      .run();
}

bool end(Connection& connection, const std::string& id, RunStatus status, const std::string& log, Timestamp now) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(status == RunStatus::finished || status == RunStatus::stopped || status == RunStatus::interrupted);
  AGW_ASSERT(!log.empty());
  auto update = connection.prepare(
      "UPDATE runs SET status = :status, ended_at = :now, log = :log WHERE id = :id AND status = 'started' RETURNING "
      "id");
  update.bind(":status", to_text(status)).bind(":now", now).bind(":log", log).bind(":id", id);
  if (!update.step()) return false;
  connection.prepare("DELETE FROM run_pieces WHERE run_id = :id").bind(":id", id).run();
  connection.prepare("DELETE FROM run_steps WHERE run_id = :id").bind(":id", id).run();
  return true;
}

void end_as_steered(Connection& connection, const std::string& id, Timestamp now) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!id.empty());
  connection.prepare("UPDATE runs SET status = :status, ended_at = :now WHERE id = :id AND status = 'started'")
      .bind(":status", to_text(RunStatus::steered))
      .bind(":now", now)
      .bind(":id", id)
      .run();
  AGW_CHECK(connection.changes() == 1, "a run that waited had ended: " + id);
}

void append_piece(Connection& connection, const std::string& run_id, const RunPiece& piece) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(piece.number >= 0);
  // The complete log of a run that has ended needs no pieces.
  connection
      .prepare(
          "INSERT INTO run_pieces (run_id, number, text, events, progress) SELECT :run, :number, :text, :events, "
          ":progress WHERE EXISTS (SELECT 1 FROM runs WHERE id = :run AND status = 'started') ON CONFLICT DO NOTHING")
      .bind(":run", run_id)
      .bind(":number", piece.number)
      .bind(":text", piece.text)
      .bind(":events", piece.events)
      .bind(":progress", piece.progress)
      .run();
  AGW_ASSERT(connection.changes() <= 1);
}

void append_step(Connection& connection, const std::string& run_id, const RunStep& step) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(step.text_end >= 0);
  connection
      .prepare(
          "INSERT INTO run_steps (run_id, number, text_end, calls) SELECT :run, coalesce(max(number), 0) + 1, "
          ":text_end, :calls FROM run_steps WHERE run_id = :run")
      .bind(":run", run_id)
      .bind(":text_end", step.text_end)
      .bind(":calls", to_json(json::value(step.calls)))
      .run();
  // An aggregate without rows is a row, too.
  AGW_ASSERT(connection.changes() == 1);
}

std::vector<InterruptedRun> unfinished(Connection& connection) {
  std::vector<InterruptedRun> runs;
  const auto ending_in = [](std::string_view rest) {
    return fmt::format("SELECT {} FROM runs WHERE ended_at IS NULL {}", run_columns.names(), rest);
  };
  static const auto sqlite = ending_in("ORDER BY rowid");
  static const auto postgres = ending_in("AND is_of_this_node(node) ORDER BY number");
  auto rows = connection.prepare(Sql{sqlite, postgres});
  while (rows.step()) runs.push_back({run_columns.read(rows), {}, {}, {}, {}});
  for (auto& interrupted : runs) {
    auto pieces =
        connection.prepare("SELECT text, progress, events FROM run_pieces WHERE run_id = :run ORDER BY number");
    pieces.bind(":run", interrupted.run.id);
    while (pieces.step()) {
      interrupted.text += pieces.text(0);
      interrupted.pieces.push_back({.text = pieces.string(0), .events = pieces.string(2)});
      auto progress = parse_json(pieces.text(1));
      if (progress && progress->is_object()) interrupted.progress = std::move(progress->get_object());
    }
    interrupted.steps = read_steps(connection, interrupted.run.id);
  }
  return runs;
}

std::vector<RunPiece> pieces(Connection& connection, const std::string& run_id) {
  std::vector<RunPiece> found;
  auto rows = connection.prepare("SELECT text, events FROM run_pieces WHERE run_id = :run ORDER BY number");
  rows.bind(":run", run_id);
  while (rows.step()) found.push_back({.text = rows.string(0), .events = rows.string(1)});
  return found;
}

std::optional<std::string> find_log(Connection& connection, const std::string& run_id, const std::string& thread_id,
                                    Timestamp oldest) {
  auto row = connection.prepare("SELECT log FROM runs WHERE id = :id AND thread_id = :thread AND ended_at > :oldest");
  row.bind(":id", run_id).bind(":thread", thread_id).bind(":oldest", oldest);
  if (!row.step()) return std::nullopt;
  return row.optional_string(0);
}

bool is_being_answered(Connection& connection, const std::string& turn_id) {
  auto row = connection.prepare("SELECT 1 FROM runs WHERE ended_at IS NULL AND turn_id = :turn");
  return row.bind(":turn", turn_id).step();
}

std::optional<Run> find(Connection& connection, const std::string& id) {
  static const auto sql = fmt::format("SELECT {} FROM runs WHERE id = :id", run_columns.names());
  auto row = connection.prepare(sql);
  row.bind(":id", id);
  if (!row.step()) return std::nullopt;
  return run_columns.read(row);
}

int forget(Connection& connection, Timestamp oldest, int limit) {
  AGW_ASSERT(limit > 0);
  connection.prepare("DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE ended_at <= :oldest LIMIT :limit)")
      .bind(":oldest", oldest)
      .bind(":limit", limit)
      .run();
  AGW_ASSERT(connection.changes() <= limit);
  return connection.changes();
}

}  // namespace agw::run_store
