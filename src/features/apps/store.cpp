#include "features/apps/store.hpp"

namespace agw::app_store {

namespace {

void bind(Statement& statement, const ProcessMark& mark) {
  statement.bind(":pid", mark.pid).bind(":started", mark.started).bind(":boot", mark.boot);
}

}  // namespace

std::vector<ProcessMark> processes(Connection& connection) {
  std::vector<ProcessMark> marks;
  auto rows =
      connection.prepare(Sql{.sqlite = "SELECT pid, started, boot FROM app_processes",
                             .postgres = "SELECT pid, started, boot FROM app_processes WHERE is_of_this_node(node)"});
  while (rows.step()) marks.push_back({static_cast<pid_t>(rows.integer(0)), rows.integer(1), rows.string(2)});
  return marks;
}

void insert(Connection& connection, const ProcessMark& mark) {
  auto statement = connection.prepare(
      "INSERT INTO app_processes (pid, started, boot) VALUES (:pid, :started, :boot) ON CONFLICT DO NOTHING");
  bind(statement, mark);
  statement.run();
}

void remove(Connection& connection, const ProcessMark& mark) {
  auto statement =
      connection.prepare("DELETE FROM app_processes WHERE pid = :pid AND started = :started AND boot = :boot");
  bind(statement, mark);
  statement.run();
}

void clear(Connection& connection) {
  connection
      .prepare(Sql{.sqlite = "DELETE FROM app_processes",
                   .postgres = "DELETE FROM app_processes WHERE is_of_this_node(node)"})
      .run();
}

}  // namespace agw::app_store
