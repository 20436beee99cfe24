#include "features/access/pairing_store.hpp"

#include "base/async/assert.hpp"

namespace agw::pairing_store {

std::int64_t now(Connection& connection) {
  auto row = connection.prepare("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)");
  row.step();
  return row.integer(0);
}

std::optional<std::string> code(Connection& connection, std::int64_t now) {
  auto row = connection.prepare("SELECT code FROM pairing_codes WHERE expires_at > :now");
  row.bind(":now", now);
  return row.step() ? std::optional(row.string(0)) : std::nullopt;
}

void set_code(Connection& connection, const std::string& code, std::int64_t expires_at) {
  // Only one code is valid at a time.
  AGW_ASSERT(connection.in_transaction());
  forget_code(connection);
  connection.prepare("INSERT INTO pairing_codes (code, expires_at) VALUES (:code, :expires_at)")
      .bind(":code", code)
      .bind(":expires_at", expires_at)
      .run();
}

void forget_code(Connection& connection) { connection.prepare("DELETE FROM pairing_codes").run(); }

void notify_token_change(Connection& connection) { connection.prepare("SELECT tell_nodes('token', '')").step(); }

Failures failures(Connection& connection) {
  auto row = connection.prepare("SELECT count(*), coalesce(max(at), 0) FROM pairing_failures");
  row.step();
  return {static_cast<std::size_t>(row.integer(0)), row.integer(1)};
}

void add_failure(Connection& connection, std::int64_t now) {
  connection.prepare("INSERT INTO pairing_failures (at) VALUES (:now)").bind(":now", now).run();
}

void forget_failures(Connection& connection, std::int64_t until) {
  connection.prepare("DELETE FROM pairing_failures WHERE at <= :until").bind(":until", until).run();
}

}  // namespace agw::pairing_store
