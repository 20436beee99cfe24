// libpq is used without blocking calls: every wait is a poll that also notices when the database is being closed
// (`wait_until_ready`), so a server that does not respond cannot delay a shutdown.
//
// The first error of a transaction is kept (`failure_`), because PostgreSQL then refuses every statement with an
// uninformative error. A connection is lost if libpq or the server reports it; then every call fails until there is a
// new one.

#include "storage/postgres/session.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "storage/postgres/prepared_statement.hpp"

namespace agw::postgres {

namespace {

using namespace std::chrono_literals;

/// How often a wait for the server checks whether the database is being closed.
constexpr auto closing_check_interval = 250ms;
static_assert(closing_check_interval <= 1s);  // while the gateway stops, a wait takes at most a second
constexpr int binary = 1;

/// libpq's messages end with a line end and may have several lines.
std::string on_one_line(std::string_view text) {
  std::string line(text.substr(0, text.find_last_not_of(" \n") + 1));
  std::erase(line, '\t');
  std::ranges::replace(line, '\n', ' ');
  return line;
}

/// Maps to SQLite's codes, which callers compare with.
int code_of(std::string_view state) {
  if (state == "23505") return SQLITE_CONSTRAINT_UNIQUE;
  if (state == "23503") return SQLITE_CONSTRAINT_FOREIGNKEY;
  if (state == "23502") return SQLITE_CONSTRAINT_NOTNULL;
  if (state == "23514") return SQLITE_CONSTRAINT_CHECK;
  if (state == "42501") return SQLITE_PERM;
  return SQLITE_ERROR;
}

/// Whether the server has ended, or is ending, the connection (PostgreSQL's manual, appendix A).
bool means_lost(std::string_view state) {
  return state.starts_with("08") || state == "57P01" || state == "57P02" || state == "57P03" || state == "57P05";
}

/// A standby refuses serializable transactions before it looks whether they change anything.
bool means_read_only(std::string_view state, std::string_view during) {
  return state == "25006" || (state == "0A000" && during == "BEGIN");
}

bool means_overloaded(std::string_view state) {
  return state == "57014" || state == "55P03" || state == "53000" || state == "53200" || state == "53300";
}

std::exception_ptr error_of(std::string_view state, std::string_view during, const std::string& message) {
  if (state == "40001" || state == "40P01") return std::make_exception_ptr(SerializationFailure(message));
  if (means_lost(state)) return std::make_exception_ptr(ConnectionLost(message));
  if (means_read_only(state, during)) return std::make_exception_ptr(ServerReadOnly(message));
  if (means_overloaded(state)) return std::make_exception_ptr(ServerOverloaded(message));
  // Raised by src/storage/migrations/postgres/0250_cluster_events.sql.
  if (state == "AGW01")
    return std::make_exception_ptr(ThreadElsewhere(SQLITE_CONSTRAINT_TRIGGER, "another node answers on the thread"));
  if (state == "53100") return std::make_exception_ptr(ServerDiskFull(SQLITE_FULL, message));
  return std::make_exception_ptr(ServerError(code_of(state), message));
}

/// `UPDATE … RETURNING` returns rows too, so the status decides.
bool is_query(std::string_view command_status) { return command_status.starts_with("SELECT"); }

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_UNIX) return true;
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(&v6);
  }
  return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
}

}  // namespace

SerializationFailure::SerializationFailure(const std::string& message)
    : DatabaseUnavailable(SQLITE_BUSY, "busy, try again", message) {}

ConnectionLost::ConnectionLost(const std::string& message)
    : DatabaseUnavailable(SQLITE_CANTOPEN, "the database cannot be reached, try again", message) {}

ServerReadOnly::ServerReadOnly(const std::string& message)
    : DatabaseUnavailable(SQLITE_READONLY, "the database is read-only now, try again", message) {}

ServerOverloaded::ServerOverloaded(const std::string& message)
    : DatabaseUnavailable(SQLITE_BUSY, "busy, try again", message) {}

DatabaseTaken::DatabaseTaken()
    : DatabaseUnavailable(SQLITE_BUSY, "another gateway has used the database: restart this one",
                          "another gateway has used the database") {}

Session::Session(const Address& address, Clock::time_point deadline, const Deadline& give_up_at)
    : give_up_at_(give_up_at) {
  connect(address, deadline);
  backend_pid_ = pq_.backend_pid(handle_.get());
  pq_.set_notice_processor(handle_.get(), [](void*, const char*) {}, nullptr);
  require_encryption(address);
  execute(
      "SELECT set_config('synchronous_commit', 'on', false) "
      "WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')");
  // Without keepalives the server would keep the locks of a vanished host for hours.
  execute(
      "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '3', false), "
      "set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '20000', false)");
}

Session::~Session() = default;

void Session::connect(const Address& address, Clock::time_point deadline) {
  AGW_ASSERT(!handle_);
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : address.parameters) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  AGW_ASSERT(keywords.size() == values.size());
  handle_.reset(pq_.connect_start(keywords.data(), values.data(), 0));
  for (auto state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK;) {
    if (!handle_ || state == PGRES_POLLING_FAILED || pq_.status(handle_.get()) == CONNECTION_BAD)
      throw ConnectionLost(handle_ ? on_one_line(pq_.error_message(handle_.get())) : "no memory");
    if (Clock::now() >= deadline) throw ConnectionLost("it does not answer");
    if (wait_until_ready(state == PGRES_POLLING_READING ? POLLIN : POLLOUT)) state = pq_.connect_poll(handle_.get());
  }
}

/// Checks the actual peer: the environment (PGHOSTADDR, PGSERVICE) may have changed the address that was checked
/// before.
void Session::require_encryption(const Address& address) const {
  AGW_ASSERT(handle_);
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(pq_.socket(handle_.get()), reinterpret_cast<sockaddr*>(&peer), &length) != 0)
    throw ConnectionLost("it ended the connection");
  if (pq_.is_encrypted(handle_.get()) || is_loopback(peer)) return;
  throw StartError(ExitStatus::failure,
                   fmt::format("the {} is on another host and reached unencrypted: add sslmode=verify-full to "
                               "cluster.database",
                               address.name));
}

bool Session::wait_until_ready(short events) {
  AGW_ASSERT(handle_);
  AGW_ASSERT(events == POLLIN || events == POLLOUT);
  pollfd wait{.fd = pq_.socket(handle_.get()), .events = events, .revents = 0};
  const int ready = ::poll(&wait, 1, static_cast<int>(closing_check_interval.count()));
  if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  if (ready == 0 && Clock::now() >= give_up_at_.load()) {
    is_lost_ = true;
    fail(std::make_exception_ptr(ConnectionLost("the database is being closed")));
  }
  return ready > 0;
}

Result Session::result_of(bool sent, std::string_view during) {
  if (is_lost_ || !sent) lose(during);
  Result kept;
  while (true) {
    while (pq_.is_busy(handle_.get())) {
      if (wait_until_ready(POLLIN) && !pq_.consume_input(handle_.get())) lose(during);
    }
    Result next(pq_.get_result(handle_.get()));
    if (!next) break;
    if (!kept || pq_.result_status(kept.get()) != PGRES_FATAL_ERROR) kept = std::move(next);
  }
  if (!kept) lose(during);
  check(kept.get(), during);
  return kept;
}

void Session::check(const PGresult* result, std::string_view during) {
  AGW_ASSERT(result);
  if (pq_.result_status(result) != PGRES_FATAL_ERROR) return;
  const auto field = [&](int code) {
    const char* text = pq_.error_field(result, code);
    return std::string(text ? text : "");
  };
  const auto state = field(PG_DIAG_SQLSTATE);
  // An error without a state comes from libpq: the connection broke.
  if (state.empty()) lose(during);
  const auto error =
      error_of(state, during,
               fmt::format("{} (PostgreSQL {}, in: {})", on_one_line(field(PG_DIAG_MESSAGE_PRIMARY)), state, during));
  is_lost_ = means_lost(state);
  fail(error);
}

void Session::fail(std::exception_ptr failure) {
  AGW_ASSERT(failure);
  if (!failure_ || is_lost_) failure_ = failure;
  std::rethrow_exception(failure);
}

void Session::lose(std::string_view during) {
  is_lost_ = true;
  const auto why = handle_ ? on_one_line(pq_.error_message(handle_.get())) : "no memory";
  fail(std::make_exception_ptr(ConnectionLost(fmt::format("{} (in: {})", why, during))));
}

Result Session::query(const std::string& sql, std::string_view during) {
  return result_of(!is_lost_ && pq_.send_query(handle_.get(), sql.c_str()) != 0, during);
}

void Session::execute(const std::string& sql) {
  const auto result = query(sql, std::string_view(sql).substr(0, 200));
  // COMMIT of a failed transaction rolls it back without reporting an error.
  if (sql == "COMMIT" && std::string_view(pq_.command_status(result.get())) == "ROLLBACK") {
    throw_failure();
  }
}

void Session::throw_failure() const {
  if (failure_) std::rethrow_exception(failure_);
  throw ServerError(SQLITE_ERROR, "the transaction had failed and was rolled back");
}

bool Session::in_transaction() const { return !is_lost_ && pq_.transaction_status(handle_.get()) != PQTRANS_IDLE; }

/// Without a look at the network: whether it is still there is found out by the next statement.
void Session::assert_idle() const {
  const auto status = pq_.transaction_status(handle_.get());
  AGW_ASSERT(is_lost_ || status != PQTRANS_INTRANS);
  AGW_ASSERT(is_lost_ || status != PQTRANS_INERROR);
  AGW_ASSERT(is_lost_ || status != PQTRANS_ACTIVE);
}

/// The id becomes a part of SQL.
void Session::fence_with(std::string id) {
  AGW_ASSERT(id.find('\'') == id.npos);
  AGW_ASSERT(id.find('\\') == id.npos);
  fence_ = std::move(id);
}

void Session::begin_write() {
  // A second BEGIN would only be a warning, and the two transactions one.
  assert_idle();
  failure_ = nullptr;
  // Checks the fence in the same round trip. The id is generated by this program, in hexadecimal.
  const auto look =
      fence_.empty() ? std::string() : fmt::format(", EXISTS (SELECT 1 FROM gateway_owner WHERE id = '{}')", fence_);
  const auto result = query("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT pg_current_xact_id()" + look, "BEGIN");
  transaction_id_ = pq_.value(result.get(), 0, 0);
  if (!fence_.empty() && *pq_.value(result.get(), 0, 1) != 't') throw DatabaseTaken();
}

void Session::begin_read() {
  assert_idle();
  failure_ = nullptr;
  query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN");
}

void Session::commit() { execute("COMMIT"); }

void Session::roll_back_to(const std::string& savepoint) {
  AGW_ASSERT(in_transaction());
  query("ROLLBACK TO " + savepoint, "ROLLBACK TO");
  failure_ = nullptr;
}

void Session::throw_if_aborted() const {
  if (is_lost_ || pq_.transaction_status(handle_.get()) == PQTRANS_INERROR) throw_failure();
}

void Session::roll_back() noexcept {
  if (!in_transaction()) return;
  try {
    query("ROLLBACK", "ROLLBACK");
  } catch (const std::exception&) {
    is_lost_ = true;
  }
}

void Session::throw_if_repeatable() const {
  if (!failure_) return;
  try {
    std::rethrow_exception(failure_);
  } catch (const DatabaseUnavailable&) {
    throw;
  } catch (const std::exception&) {
    return;  // the closure's own failure
  }
}

void Session::wait_for_notification(int wake, std::chrono::milliseconds limit) {
  AGW_ASSERT(wake >= 0);
  // A negative limit would mean none.
  AGW_ASSERT(limit.count() >= 0);
  std::array<pollfd, 2> waits{{{.fd = pq_.socket(handle_.get()), .events = POLLIN, .revents = 0},
                               {.fd = wake, .events = POLLIN, .revents = 0}}};
  const int ready = ::poll(waits.data(), waits.size(), static_cast<int>(limit.count()));
  if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  if (ready <= 0 || waits[0].revents == 0) return;
  if (!pq_.consume_input(handle_.get())) lose("LISTEN");
  while (auto* notification = pq_.notifies(handle_.get())) pq_.freemem(notification);
}

void Session::prepare(const std::string& name, const std::string& sql, std::span<const Oid> types) {
  // The server has one statement without a name, which the next one would replace.
  AGW_ASSERT(!name.empty());
  const bool sent = !is_lost_ && pq_.send_prepare(handle_.get(), name.c_str(), sql.c_str(),
                                                  static_cast<int>(types.size()), types.data());
  result_of(sent, sql);
}

Result Session::run_prepared(const std::string& name, std::span<const Parameter> parameters, std::string_view during) {
  std::vector<const char*> values;
  std::vector<int> lengths;
  AGW_ASSERT(!name.empty());
  for (const auto& parameter : parameters) {
    AGW_CHECK(std::in_range<int>(parameter.bytes.size()), "a value is too long for the database");
    values.push_back(parameter.is_null ? nullptr : parameter.bytes.data());
    lengths.push_back(static_cast<int>(parameter.bytes.size()));
  }
  const std::vector<int> formats(parameters.size(), binary);
  const bool sent = !is_lost_ && pq_.send_prepared(handle_.get(), name.c_str(), static_cast<int>(values.size()),
                                                   values.data(), lengths.data(), formats.data(), 0) != 0;
  auto result = result_of(sent, during);
  if (pq_.result_status(result.get()) != PGRES_TUPLES_OK || !is_query(pq_.command_status(result.get()))) {
    const std::string_view changed = pq_.changed_rows(result.get());
    changes_ = 0;
    std::from_chars(changed.data(), changed.data() + changed.size(), changes_);
  }
  return result;
}

RemoteStatement& Session::prepare(std::string_view sql) {
  AGW_ASSERT(!sql.empty());
  auto place = free_.find(sql);
  if (place == free_.end()) place = free_.emplace(sql, FreeList{}).first;
  auto& free_list = place->second;
  if (free_list.empty()) {
    return *statements_.emplace_back(std::make_unique<PreparedStatement>(*this, free_list, sql));
  }
  auto* kept = free_list.back();
  free_list.pop_back();
  return *kept;
}

}  // namespace agw::postgres
