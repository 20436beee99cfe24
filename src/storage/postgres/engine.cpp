#include "storage/postgres/engine.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "storage/postgres/address.hpp"
#include "storage/postgres/change_feed.hpp"
#include "storage/postgres/link.hpp"
#include "storage/postgres/record_move.hpp"
#include "storage/postgres/schema.hpp"
#include "storage/postgres/shared_files.hpp"
#include "storage/postgres/writer.hpp"
#include "storage/reader_pool.hpp"

namespace agw::postgres {

namespace {

using namespace std::chrono_literals;

constexpr auto time_to_connect_at_start = 4s;
constexpr auto predecessor_timeout = 2s;
static_assert(predecessor_timeout < time_to_connect_at_start);

[[noreturn]] void refuse(const Address& address, const DatabaseError& error) {
  const std::string_view remedy = error.code() == SQLITE_FULL   ? ". Make room on the disk of the server"
                                  : error.code() == SQLITE_PERM ? ". Log in as the role that made the tables"
                                                                : "";
  throw StartError(ExitStatus::failure,
                   fmt::format("the {} (cluster.database) cannot be used: {}{}", address.name, error.what(), remedy));
}

/// Runs the item in one transaction; repeats it if the connection is lost.
void read(WorkItem& item, Link& link) {
  while (true) {
    try {
      auto& session = link.session();
      session.begin_read();
      item.run(link.connection());
      session.throw_if_repeatable();
      session.roll_back();
      return;
    } catch (const ConnectionLost&) {
      if (!link.is_connected()) return item.fail(std::current_exception());
      link.drop();
    } catch (const std::exception&) {
      item.fail(std::current_exception());
      return link.drop();
    }
  }
}

Link connected(const Address& address, Stop& stop, Session::Clock::time_point deadline) {
  Link link(address, stop);
  try {
    link.connect(deadline);
  } catch (const ConnectionLost& error) {
    const std::string_view why = error.what();  // may be a question: "Is the server running …?"
    throw StartError(ExitStatus::failure,
                     fmt::format("cannot reach the {} (cluster.database): {}{} Start the server, or correct "
                                 "cluster.database, its user or its password.",
                                 address.name, why, why.ends_with('?') ? "" : "."));
  }
  return link;
}

Link prepared(const Address& address, Stop& stop, const Options& options) {
  const auto deadline = Session::Clock::now() + time_to_connect_at_start;
  auto link = connected(address, stop, deadline);
  try {
    auto& connection = link.connection();
    Owner::lock(connection, address, options.node, std::min(deadline, Session::Clock::now() + predecessor_timeout));
    require_complete(connection, address);
    Owner::refuse_distant_releases(connection, address, options.node);
    prepare_database(connection, address, options.migrations);
    if (!options.cluster_file.empty()) join_cluster(connection, address, options.cluster_file);
    link.connect_as(Owner(connection, options.node, !options.shared_files.empty()));
    if (!options.node.empty()) find_nodes(link.connection(), address, {options.node, options.shared_files});
  } catch (const DatabaseError& error) {
    refuse(address, error);
  }
  AGW_ASSERT(link.is_connected());
  return link;
}

/// Makes the node's name known to all sessions of the node.
Address address_for(const Options& options) {
  auto address = read_address(options.url);
  if (options.node.empty()) return address;
  const auto given = std::ranges::find(address.parameters, "options", [](const auto& each) { return each.first; });
  const auto name = "-c agw.node=" + options.node + (options.shared_files.empty() ? "" : " -c agw.files=shared");
  if (given == address.parameters.end())
    address.parameters.emplace_back("options", name);
  else
    given->second += ' ' + name;
  return address;
}

class Engine final : public StorageEngine {
public:
  Engine(Loop& loop, const Options& options)
      : address_(address_for(options)),
        writer_(loop, prepared(address_, stop_, options), stop_, options.group_limit),
        readers_(
            loop,
            [this]() -> ItemReader {
              return {.read = [link = std::make_shared<Link>(address_, stop_)](WorkItem& item) {
                postgres::read(item, *link);
              }};
            },
            options.readers) {
    AGW_ASSERT(options.node.empty() == writer_.fence().empty());
    if (options.node.empty()) return;
    const auto seen = ChangeFeed::latest(writer_.start_connection());
    feed_.emplace(loop, address_, stop_, ChangeFeed::Start{seen, writer_.fence()}, options);
  }
  ~Engine() override { close(Clock::now()); }

  void write(std::unique_ptr<WorkItem> item, Database::Lane lane) override { writer_.add(std::move(item), lane); }
  void read(std::unique_ptr<WorkItem> item) override { readers_.add(std::move(item)); }
  Connection& start_connection() override { return writer_.start_connection(); }
  Database::Statistics statistics() const override { return writer_.statistics(); }

  void hurry() override { stop_.hurry(); }

  void close(Clock::time_point deadline) override {
    stop_.hurry();
    feed_.reset();
    stop_.give_up_at(deadline);
    readers_.close(deadline);
    writer_.close(deadline);
  }

private:
  const Address address_;
  Stop stop_;
  GroupWriter writer_;
  ReaderPool readers_;
  std::optional<ChangeFeed> feed_;
};

/// Uses the fastest of several queries, which measures the server's time most precisely.
ServerCheck measured(Connection& connection, const Address& address) {
  using Wall = std::chrono::system_clock;
  ServerCheck check{.name = address.name, .version = {}, .round_trip = std::chrono::hours(1)};
  for (int question = 0; question < 5; ++question) {
    auto row = connection.prepare(
        "SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision), current_setting('server_version')");
    const auto asked_at = Session::Clock::now();
    row.step();
    const std::chrono::duration<double, std::milli> taken = Session::Clock::now() - asked_at;
    if (taken >= check.round_trip) continue;
    const std::chrono::duration<double> now = Wall::now().time_since_epoch();
    check.round_trip = taken;
    check.ahead = now - taken / 2 - std::chrono::duration<double>(row.real(0));
    check.version = row.string(1);
  }
  return check;
}

}  // namespace

std::unique_ptr<StorageEngine> open_engine(Loop& loop, const Options& options) {
  AGW_DEBUG_ASSERT(may_block());

  return std::make_unique<Engine>(loop, options);
}

ServerCheck check_reachable(const std::string& url) {
  AGW_DEBUG_ASSERT(may_block());

  const auto address = read_address(url);
  Stop stop;
  auto link = connected(address, stop, Session::Clock::now() + time_to_connect_at_start);
  try {
    require_complete(link.connection(), address);
    check_database(link.connection(), address, embedded_migrations("postgres"));
  } catch (const DatabaseError& error) {
    refuse(address, error);
  }
  return measured(link.connection(), address);
}

}  // namespace agw::postgres
