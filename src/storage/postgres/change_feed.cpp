#include "storage/postgres/change_feed.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "storage/postgres/engine.hpp"
#include "storage/postgres/lease.hpp"

namespace agw::postgres {

namespace {

using namespace std::chrono_literals;

constexpr auto change_poll_interval = 1s;
constexpr auto renewal_interval = 2s;
constexpr auto lease = 10s;
constexpr auto removal_interval = 10min;
constexpr auto feed_warning_interval = 1min;

/// Older changes are deleted.
constexpr std::chrono::seconds kept = 1h;

// A renewal may be late, and one may fail.
static_assert(change_poll_interval <= renewal_interval);
static_assert(3 * renewal_interval < lease);
static_assert(2 * lease < kept);
static_assert(removal_interval < kept);

std::chrono::seconds seconds_awake_and_asleep() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec);
}

Descriptor new_event() {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return Descriptor(descriptor);
}

}  // namespace

struct ChangeFeed::Calls {
  OnChanges on_changes;
  std::function<void()> on_lead;
  std::function<void(const LostNode&)> on_lost_node;
  std::function<void()> on_lost;
  bool is_over = false;  ///< used on the loop
};

ChangeFeed::ChangeFeed(Loop& loop, const Address& address, Stop& stop, Start start, const Options& options)
    : loop_(loop),
      stop_(stop),
      seen_(start.seen),
      id_(std::move(start.id)),
      node_(options.node),
      calls_(std::make_shared<Calls>(options.on_changes, options.on_lead, options.on_lost_node, options.on_lost)),
      link_(address, stop),
      read_at_(seconds_awake_and_asleep()),
      wake_(new_event()) {
  AGW_ASSERT(seen_ >= 0);
  AGW_ASSERT(!id_.empty());
  AGW_ASSERT(!node_.empty());
  AGW_ASSERT(calls_->on_changes);
  AGW_ASSERT(calls_->on_lead);
  AGW_ASSERT(calls_->on_lost_node);
  AGW_ASSERT(calls_->on_lost);
  thread_ = std::make_unique<WorkerThread>("agw-changes", [this] { work(); });
}

ChangeFeed::~ChangeFeed() {
  AGW_ASSERT(checker_.is_current());
  calls_->is_over = true;
  is_over_ = true;
  ::eventfd_write(wake_.get(), 1);
  thread_.reset();
}

std::int64_t ChangeFeed::latest(Connection& connection) {
  auto row = connection.prepare("SELECT coalesce(max(number), 0) FROM changes");
  row.step();
  return row.integer(0);
}

void ChangeFeed::assert_invariants() const {
  // Otherwise the locks and the notifications would be those of a session that is gone.
  if (listens_) AGW_ASSERT(link_.is_connected());
  if (listens_) AGW_ASSERT(connections_ > 0);
  if (leads_) AGW_ASSERT(listens_);
  if (leads_) AGW_ASSERT(!has_led_);
}

void ChangeFeed::work() {
  while (!is_over_) {
    assert_invariants();
    try {
      if (!listens_) connect();
      renew();
      check_for_lost_nodes();
      try_to_lead();
      read_on();
      forget_old();
      assert_invariants();
      link_.session().wait_for_notification(wake_.get(), change_poll_interval);
    } catch (const std::exception& error) {
      warn(error);
      link_.drop();
      listens_ = false;
      has_led_ |= std::exchange(leads_, false);
      if (!is_over_ && stop_.wait(100ms)) return;
    }
  }
}

void ChangeFeed::warn(const std::exception& error) {
  const auto now = Session::Clock::now();
  if (warned_at_ && now - *warned_at_ < feed_warning_interval) return;
  warned_at_ = now;
  log::warn("what other nodes change is not seen until the database is reached again: {}", error.what());
}

void ChangeFeed::connect() {
  AGW_ASSERT(!listens_);
  AGW_ASSERT(!leads_);
  auto& connection = link_.connection();
  connection.execute("LISTEN agw_changes");
  // Allows a node that claims this one to find this session.
  connection
      .prepare(
          "SELECT pg_advisory_lock_shared(7425, hashtext(coalesce(current_schema(), '') || '/' || CAST(:node AS "
          "text)))")
      .bind(":node", node_)
      .step();
  listens_ = true;
  warned_at_.reset();
  ++connections_;
  connected_at_ = Session::Clock::now();
}

void ChangeFeed::renew() {
  assert_invariants();
  AGW_ASSERT(listens_);
  if (Session::Clock::now() - renewed_at_ < renewal_interval) return;
  if (!postgres::renew(link_.connection(), id_, seen_)) return lose();
  renewed_at_ = Session::Clock::now();
}

void ChangeFeed::check_for_lost_nodes() {
  AGW_ASSERT(listens_);
  if (Session::Clock::now() - connected_at_ < lease) return;
  const auto lost = find_lost(link_.connection(), id_);
  if (!lost) return;
  AGW_ASSERT(lost->id != id_);
  asio::post(loop_, [calls = calls_, lost = *lost] {
    if (!calls->is_over) calls->on_lost_node(lost);
  });
}

void ChangeFeed::lose() {
  if (std::exchange(has_lost_, true)) return;
  asio::post(loop_, [calls = calls_] {
    if (!calls->is_over) calls->on_lost();
  });
}

void ChangeFeed::read_on() {
  AGW_ASSERT(listens_);
  const auto now = seconds_awake_and_asleep();
  if (now - std::exchange(read_at_, now) > kept / 2) lose();
  std::vector<RecordChange> changes;
  auto rows =
      link_.connection().prepare("SELECT number, topic, \"key\" FROM changes WHERE number > :seen ORDER BY number");
  rows.bind(":seen", seen_);
  while (rows.step()) {
    AGW_DEBUG_ASSERT(rows.integer(0) > seen_);
    seen_ = rows.integer(0);
    changes.push_back({rows.string(1), rows.string(2)});
  }
  if (changes.empty()) return;
  asio::post(loop_, [calls = calls_, changes = std::move(changes)]() mutable {
    if (!calls->is_over) calls->on_changes(std::move(changes));
  });
}

void ChangeFeed::try_to_lead() {
  // After an outage, gives the previous leader time to reconnect.
  if (leads_ || (connections_ > 1 && !has_led_ && Session::Clock::now() - connected_at_ < lease)) return;
  auto row = link_.connection().prepare("SELECT pg_try_advisory_lock(7424, hashtext(coalesce(current_schema(), '')))");
  row.step();
  if (!row.boolean(0)) {
    if (std::exchange(has_led_, false)) lose();
    return;
  }
  AGW_ASSERT(listens_);
  leads_ = true;
  if (std::exchange(has_led_, false)) return;
  asio::post(loop_, [calls = calls_] {
    if (!calls->is_over) calls->on_lead();
  });
}

void ChangeFeed::forget_old() {
  if (!leads_ || Session::Clock::now() - forgot_at_ < removal_interval) return;
  AGW_ASSERT(listens_);
  forgot_at_ = Session::Clock::now();
  link_.connection().prepare("DELETE FROM changes WHERE at < clock_timestamp() - interval '1 hour'").run();
}

}  // namespace agw::postgres
