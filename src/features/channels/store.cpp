#include "features/channels/store.hpp"

#include "base/async/assert.hpp"
#include "storage/columns.hpp"

namespace agw::channel_store {

namespace {

constexpr int purged_at_once = 20;

constexpr auto inbound_columns = columns_of<InboundRow>(
    Column{"integration_id", &InboundRow::integration_id}, Column{"update_id", &InboundRow::update_id},
    Column{"chat", [](auto& row) -> auto& { return row.place.chat; }},
    Column{"topic", [](auto& row) -> auto& { return row.place.topic; }},
    Column{"is_group", [](auto& row) -> auto& { return row.place.is_group; }}, Column{"message", &InboundRow::message},
    Column{"sender", &InboundRow::sender}, Column{"turn_id", &InboundRow::turn_id},
    Column{"thread_id", &InboundRow::thread_id}, Column{"is_answered", &InboundRow::is_answered},
    Column{"shown_as", &InboundRow::shown_as}, Column{"created_at", &InboundRow::created_at});

constexpr auto outbox_columns =
    columns_of<OutboxRow>(Column{"id", &OutboxRow::id}, Column{"integration_id", &OutboxRow::integration_id},
                          Column{"chat", [](auto& row) -> auto& { return row.place.chat; }},
                          Column{"topic", [](auto& row) -> auto& { return row.place.topic; }},
                          Column{"is_group", [](auto& row) -> auto& { return row.place.is_group; }},
                          Column{"replies_to", &OutboxRow::replies_to}, Column{"text", &OutboxRow::text},
                          Column{"is_markdown", &OutboxRow::is_markdown}, Column{"question", &OutboxRow::question},
                          Column{"files", &OutboxRow::files}, Column{"is_begun", &OutboxRow::is_begun},
                          Column{"created_at", &OutboxRow::created_at});

template <class Row, class RowColumns>
std::vector<Row> rows_of(Connection& connection, const RowColumns& columns, const std::string& sql,
                         std::string_view integration_id) {
  std::vector<Row> rows;
  auto statement = connection.prepare(sql);
  statement.bind(":integration", integration_id);
  while (statement.step()) {
    auto& row = rows.emplace_back(columns.read(statement));
    row.number = statement.integer(RowColumns::count);
    AGW_ASSERT(rows.size() == 1 || rows[rows.size() - 2].number < row.number);
  }
  return rows;
}

template <class Row, class RowColumns>
std::int64_t insert_row(Connection& connection, const RowColumns& columns, const std::string& sql, const Row& row) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(row.number == 0);
  AGW_ASSERT(!row.integration_id.empty());
  auto statement = connection.prepare(sql);
  const bool has_number = columns.bind(statement, row).step();
  AGW_ASSERT(has_number);
  return statement.integer(0);
}

}  // namespace

std::string cursor(Connection& connection, std::string_view integration_id) {
  auto row = connection.prepare("SELECT cursor FROM channel_cursors WHERE integration_id = :integration");
  row.bind(":integration", integration_id);
  return row.step() ? row.string(0) : std::string();
}

void set_cursor(Connection& connection, std::string_view integration_id, std::string_view cursor) {
  AGW_ASSERT(connection.in_transaction());
  connection
      .prepare(
          "INSERT INTO channel_cursors (integration_id, cursor) VALUES (:integration, :cursor)"
          " ON CONFLICT (integration_id) DO UPDATE SET cursor = excluded.cursor")
      .bind(":integration", integration_id)
      .bind(":cursor", cursor)
      .run();
}

std::optional<std::string> thread_of(Connection& connection, std::string_view integration_id, const ChatPlace& place) {
  auto row = connection.prepare(
      "SELECT thread_id FROM channel_threads WHERE integration_id = :integration AND chat = :chat AND topic = :topic");
  row.bind(":integration", integration_id).bind(":chat", place.chat).bind(":topic", place.topic);
  return row.step() ? std::optional(row.string(0)) : std::nullopt;
}

void set_thread(Connection& connection, std::string_view integration_id, const ChatPlace& place,
                std::string_view thread_id) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!thread_id.empty());
  connection
      .prepare(
          "INSERT INTO channel_threads (integration_id, chat, topic, thread_id) VALUES (:integration, :chat, :topic, "
          ":thread) ON CONFLICT (integration_id, chat, topic) DO UPDATE SET thread_id = excluded.thread_id")
      .bind(":integration", integration_id)
      .bind(":chat", place.chat)
      .bind(":topic", place.topic)
      .bind(":thread", thread_id)
      .run();
}

void move_chat(Connection& connection, std::string_view integration_id, std::string_view from, std::string_view to) {
  AGW_ASSERT(connection.in_transaction());
  connection
      .prepare(
          "UPDATE channel_threads SET chat = :to WHERE integration_id = :integration AND chat = :from AND NOT EXISTS"
          " (SELECT 1 FROM channel_threads WHERE integration_id = :integration AND chat = :to)")
      .bind(":integration", integration_id)
      .bind(":from", from)
      .bind(":to", to)
      .run();
}

void forget_thread(Connection& connection, std::string_view integration_id, const ChatPlace& place) {
  connection
      .prepare("DELETE FROM channel_threads WHERE integration_id = :integration AND chat = :chat AND topic = :topic")
      .bind(":integration", integration_id)
      .bind(":chat", place.chat)
      .bind(":topic", place.topic)
      .run();
}

bool is_known(Connection& connection, std::string_view integration_id, std::string_view update_id) {
  auto row =
      connection.prepare("SELECT 1 FROM channel_inbound WHERE integration_id = :integration AND update_id = :update");
  row.bind(":integration", integration_id).bind(":update", update_id);
  return row.step();
}

bool is_known_message(Connection& connection, std::string_view integration_id, std::string_view sender,
                      std::string_view message) {
  auto row = connection.prepare(
      "SELECT 1 FROM channel_inbound WHERE integration_id = :integration AND message = :message AND sender = :sender");
  row.bind(":integration", integration_id).bind(":message", message).bind(":sender", sender);
  return row.step();
}

std::int64_t insert(Connection& connection, const InboundRow& row) {
  AGW_ASSERT(row.turn_id.has_value() == row.thread_id.has_value());
  // A message without a turn, such as a command, is answered in the same transaction.
  AGW_ASSERT(row.is_answered != row.turn_id.has_value());
  AGW_ASSERT(!row.shown_as);
  static const auto sql = inbound_columns.insert_into("channel_inbound") + " RETURNING number";
  return insert_row(connection, inbound_columns, sql, row);
}

std::vector<InboundRow> open_questions(Connection& connection, std::string_view integration_id) {
  static const auto sql = "SELECT " + inbound_columns.names() +
                          ", number FROM channel_inbound"
                          " WHERE integration_id = :integration AND is_answered = 0 ORDER BY number";
  return rows_of<InboundRow>(connection, inbound_columns, sql, integration_id);
}

bool mark_answered(Connection& connection, std::int64_t number) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(number > 0);
  connection.prepare("UPDATE channel_inbound SET is_answered = 1 WHERE number = :number AND is_answered = 0")
      .bind(":number", number)
      .run();
  return connection.changes() > 0;
}

bool add_file(Connection& connection, std::int64_t number, std::string_view attachment_id, int max_files) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(number > 0);
  AGW_ASSERT(max_files > 0);
  AGW_ASSERT(attachment_id.find(' ') == attachment_id.npos);
  constexpr std::int64_t id_and_blank = 37;
  connection
      .prepare(
          "UPDATE channel_inbound SET files = trim(files || ' ' || :file)"
          " WHERE number = :number AND is_answered = 0 AND length(files) < :most")
      .bind(":file", attachment_id)
      .bind(":number", number)
      .bind(":most", max_files * id_and_blank - 1)
      .run();
  return connection.changes() > 0;
}

std::string files_of(Connection& connection, std::int64_t number) {
  auto row = connection.prepare("SELECT files FROM channel_inbound WHERE number = :number");
  row.bind(":number", number);
  return row.step() ? row.string(0) : std::string();
}

void set_shown_as(Connection& connection, std::int64_t number, const std::optional<std::string>& message) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(number > 0);
  connection.prepare("UPDATE channel_inbound SET shown_as = :message WHERE number = :number")
      .bind(":message", message)
      .bind(":number", number)
      .run();
}

std::optional<std::string> shown_as(Connection& connection, std::int64_t number) {
  auto row = connection.prepare("SELECT shown_as FROM channel_inbound WHERE number = :number");
  row.bind(":number", number);
  return row.step() ? row.optional_string(0) : std::nullopt;
}

void purge(Connection& connection, Timestamp oldest) {
  connection
      .prepare(
          "DELETE FROM channel_inbound WHERE number IN (SELECT number FROM channel_inbound"
          " WHERE created_at < :oldest AND is_answered = 1 ORDER BY number LIMIT :count)")
      .bind(":oldest", oldest)
      .bind(":count", purged_at_once)
      .run();
}

std::optional<std::string> person_in(Connection& connection, std::string_view integration_id, const ChatPlace& place) {
  auto row = connection.prepare(
      "SELECT sender FROM channel_inbound WHERE integration_id = :integration AND chat = :chat"
      " AND is_group = 0 ORDER BY number DESC LIMIT 1");
  row.bind(":integration", integration_id).bind(":chat", place.chat);
  return row.step() ? std::optional(row.string(0)) : std::nullopt;
}

std::optional<ChatPlace> private_chat_of(Connection& connection, std::string_view integration_id,
                                         std::string_view sender) {
  auto row = connection.prepare(
      "SELECT chat, topic FROM channel_inbound WHERE integration_id = :integration AND sender = :sender"
      " AND is_group = 0 ORDER BY number DESC LIMIT 1");
  row.bind(":integration", integration_id).bind(":sender", sender);
  return row.step() ? std::optional(ChatPlace{row.string(0), row.string(1)}) : std::nullopt;
}

std::int64_t insert(Connection& connection, const OutboxRow& row) {
  AGW_ASSERT(!row.id.empty());
  AGW_ASSERT(!row.is_begun);
  AGW_ASSERT(!row.question || *row.question > 0);
  static const auto sql = outbox_columns.insert_into("channel_outbox") + " RETURNING number";
  return insert_row(connection, outbox_columns, sql, row);
}

std::vector<OutboxRow> unsent(Connection& connection, std::string_view integration_id) {
  static const auto sql = "SELECT " + outbox_columns.names() +
                          ", number FROM channel_outbox"
                          " WHERE integration_id = :integration ORDER BY number";
  return rows_of<OutboxRow>(connection, outbox_columns, sql, integration_id);
}

void mark_begun(Connection& connection, std::int64_t number) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(number > 0);
  connection.prepare("UPDATE channel_outbox SET is_begun = 1 WHERE number = :number").bind(":number", number).run();
}

void remove_sent(Connection& connection, std::int64_t number) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(number > 0);
  connection.prepare("DELETE FROM channel_outbox WHERE number = :number").bind(":number", number).run();
}

void forget(Connection& connection, std::string_view integration_id) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!integration_id.empty());
  for (const std::string_view sql : {"DELETE FROM channel_cursors WHERE integration_id = :integration",
                                     "DELETE FROM channel_threads WHERE integration_id = :integration",
                                     "DELETE FROM channel_inbound WHERE integration_id = :integration",
                                     "DELETE FROM channel_outbox WHERE integration_id = :integration"}) {
    connection.prepare(sql).bind(":integration", integration_id).run();
  }
}

}  // namespace agw::channel_store
