#include "features/shared_links/service.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "features/shared_links/store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

constexpr std::size_t id_bytes = 16;
constexpr std::int64_t bytes_per_mebibyte = 1024 * 1024;
/// The clock may be set, and another node's links are not known here.
constexpr std::chrono::milliseconds max_wait = std::chrono::hours{24};
constexpr std::chrono::milliseconds wait_after_failure = std::chrono::hours{1};

NotFound link_not_found() { return NotFound("link not found"); }

bool is_link_id(std::string_view id) {
  return id.size() == 2 * id_bytes && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void check_limits(Connection& connection, std::int64_t size, const SharedLinks::Limits& limits) {
  const auto used = shared_link_store::usage(connection);
  if (used.count >= limits.links) {
    throw Conflict(fmt::format("there are {} shared links: take one back first", used.count));
  }
  if (used.size + size > limits.bytes) {
    throw Conflict(fmt::format("all shared links together may have {} MiB: take one back first",
                               limits.bytes / bytes_per_mebibyte));
  }
}

}  // namespace

SharedLinks::SharedLinks(Loop& loop, const Services& services) : SharedLinks(loop, services, Limits{}) {}

SharedLinks::SharedLinks(Loop& loop, const Services& services, Limits limits)
    : services_(services), limits_(limits), changed_(loop), background_(loop) {}

void SharedLinks::load(Connection& connection) { next_expiry_ = shared_link_store::next_expiry(connection); }

void SharedLinks::start() {
  AGW_ASSERT(background_.size() == 0);
  background_.spawn(remove_when_expired());
}

Task<> SharedLinks::stop() {
  stopping_.request();
  co_await background_.join();
}

SharedLink SharedLinks::link_for(std::string thread_id, std::int64_t days, std::size_t size) const {
  const auto now = services_.clock.now();
  return {.id = random_hex(id_bytes),
          .thread_id = std::move(thread_id),
          .created_at = now,
          .expires_at = now + std::chrono::days(days),
          .size = static_cast<std::int64_t>(size)};
}

Task<SharedLink> SharedLinks::create(std::string thread_id, NewSharedLink wanted, std::string content,
                                     InTransaction<SharedLink> in_transaction) {
  AGW_ASSERT(!content.empty());
  AGW_ASSERT(content.size() <= max_size);
  if (wanted.days < 1 || wanted.days > max_days) throw BadRequest(fmt::format("days must be 1 to {}", max_days));
  const auto link = link_for(std::move(thread_id), wanted.days, content.size());
  const auto encoded = co_await services_.blocking.run(
      [content = std::move(content)] { return std::make_shared<const std::string>(to_base64url(content)); });
  next_expiry_ = co_await services_.database.write(
      [link, encoded, in_transaction, limits = limits_](Connection& connection) -> std::optional<Timestamp> {
        if (!shared_link_store::has_thread(connection, link.thread_id)) throw thread_not_found();
        shared_link_store::remove_expired(connection, link.created_at);
        check_limits(connection, link.size, limits);
        shared_link_store::insert(connection, link, *encoded);
        if (in_transaction) in_transaction(connection, link);
        return shared_link_store::next_expiry(connection);
      });
  changed_.notify();
  co_return link;
}

Task<std::vector<SharedLink>> SharedLinks::list(std::optional<std::string> thread_id) {
  co_return co_await services_.database.read(
      [thread_id = std::move(thread_id), now = services_.clock.now()](Connection& connection) {
        return shared_link_store::list(connection, thread_id, now);
      });
}

Task<SharedContent> SharedLinks::content(std::string id) {
  // Anyone may ask: only what could be a link costs a read.
  if (!is_link_id(id)) throw link_not_found();
  auto found = co_await services_.database.read([id, now = services_.clock.now()](Connection& connection) {
    auto stored = shared_link_store::content(connection, id, now);
    if (stored) stored->bytes = from_base64url(stored->bytes).value_or("");
    return stored;
  });
  if (!found) throw link_not_found();
  co_return *std::move(found);
}

Task<> SharedLinks::remove(std::string id) {
  const bool was_there = co_await services_.database.write([id, now = services_.clock.now()](Connection& connection) {
    return shared_link_store::remove(connection, id, now);
  });
  if (!was_there) throw link_not_found();
}

Task<> SharedLinks::remove_when_expired() {
  while (!stopping_.requested()) {
    changed_.reset();
    auto wait = max_wait;
    try {
      if (next_expiry_ && *next_expiry_ <= services_.clock.now()) co_await remove_expired();
    } catch (const DatabaseError& error) {
      log::warn("expired links stay in the database for an hour: {}", error.what());
      wait = wait_after_failure;
    }
    if (next_expiry_ && wait == max_wait) {
      wait = std::clamp<std::chrono::milliseconds>(*next_expiry_ - services_.clock.now(), {}, max_wait);
    }
    co_await with_timeout(stopping_, wait, changed_.wait());
  }
}

Task<> SharedLinks::remove_expired() {
  next_expiry_ = co_await services_.database.write(
      [now = services_.clock.now()](Connection& connection) {
        shared_link_store::remove_expired(connection, now);
        return shared_link_store::next_expiry(connection);
      },
      Database::Lane::background);
}

}  // namespace agw
