#include "base/json/json_values.hpp"
#include "features/threads/thread_store.hpp"

namespace agw::task_store {

namespace {

ThreadTask task_in(const json::value& entry) {
  const auto& members = entry.as_object();
  return {string_or_empty(members, "text"), enum_member(members, "status", TaskStatus::pending)};
}

}  // namespace

std::optional<std::vector<ThreadTask>> list(Connection& connection, std::int64_t thread) {
  auto row = connection.prepare("SELECT tasks FROM thread_tasks WHERE thread = :thread");
  row.bind(":thread", thread);
  if (!row.step()) return std::nullopt;
  std::vector<ThreadTask> tasks;
  const auto stored = parse_stored_json(row.text(0));
  for (const auto& entry : stored.as_array()) tasks.push_back(task_in(entry));
  return tasks;
}

void put(Connection& connection, std::int64_t thread, const std::vector<ThreadTask>& tasks) {
  std::string text;
  write_json(text, tasks);
  connection
      .prepare(
          "INSERT INTO thread_tasks (thread, tasks) VALUES (:thread, :tasks) "
          "ON CONFLICT (thread) DO UPDATE SET tasks = excluded.tasks")
      .bind(":thread", thread)
      .bind(":tasks", text)
      .run();
}

void copy(Connection& connection, std::int64_t original, std::int64_t copy) {
  connection
      .prepare(
          "INSERT INTO thread_tasks (thread, tasks) SELECT :copy, tasks FROM thread_tasks WHERE thread = :original")
      .bind(":copy", copy)
      .bind(":original", original)
      .run();
}

}  // namespace agw::task_store
