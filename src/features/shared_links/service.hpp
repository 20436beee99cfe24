#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/response.hpp"
#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/shared_links/types.hpp"
#include "io/process/blocking.hpp"
#include "storage/connection.hpp"
#include "storage/in_transaction.hpp"

namespace agw {

struct Route;
class Clock;
class Database;
class Threads;

/// Links by which people without a token read a chat: encrypted by the browser of who shares it, until the link expires
/// or is taken back. The gateway never has the key.
/// Example: src/features/shared_links/service_test.cpp: SharedLinksTest.AreReadUntilTheyAreTakenBack
class SharedLinks {
public:
  struct Limits {
    std::int64_t links = 1000;
    std::int64_t bytes = 64 * 1024 * 1024;  ///< in total
  };
  /// Of one link, in bytes.
  static constexpr std::size_t max_size = 8 * 1024 * 1024;
  static constexpr std::int64_t max_days = 365;

  struct Services {
    Database& database;
    const Clock& clock;
    BlockingPool& blocking;
  };

  SharedLinks(Loop& loop, const Services& services);
  SharedLinks(Loop& loop, const Services& services, Limits limits);

  /// Finds out at startup when the next link expires.
  void load(Connection& connection);
  /// From now on, deletes links when they expire.
  void start();
  Task<> stop();

  /// `content`: what the link's reader gets, 1 to `max_size` bytes. Throws NotFound `thread not found`; BadRequest if
  /// the link would not last 1 to `max_days` days; Conflict if there are too many links, or all are too large.
  Task<SharedLink> create(std::string thread_id, NewSharedLink wanted, std::string content,
                          InTransaction<SharedLink> in_transaction = {});
  /// Newest first. `thread_id`: those of all threads if there is none.
  Task<std::vector<SharedLink>> list(std::optional<std::string> thread_id = {});
  /// Throws NotFound `link not found`, also if it has expired.
  Task<SharedContent> content(std::string id);
  /// Throws like `content`.
  Task<> remove(std::string id);

private:
  SharedLink link_for(std::string thread_id, std::int64_t days, std::size_t size) const;
  Task<> remove_when_expired();
  Task<> remove_expired();

  Services services_;
  const Limits limits_;
  std::optional<Timestamp> next_expiry_;  ///< of the links known to this node
  AsyncEvent changed_;
  StopSource stopping_;
  TaskGroup background_;
};

/// `/links`, `/threads/:id/links`, and `/ui/shared/:id`, whose responses have the fields of the page.
std::vector<Route> shared_link_routes(SharedLinks& links, Threads& threads, Fields of_page);

}  // namespace agw
