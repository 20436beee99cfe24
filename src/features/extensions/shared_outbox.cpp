// How nodes that share their data directory keep it up to date: the leading node executes the steps of all, ordered by
// number. Steps that depend on each other touch the same record or the same name, so the database commits them in the
// order of their numbers.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/log.hpp"
#include "features/extensions/outbox.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

/// How long a request waits for the leading node. If that node fails, another one takes over after ten seconds and
/// executes the step.
constexpr auto max_wait_for_leader = 5s;
/// A result may arrive just before the wait begins, so the wait is repeated at this interval.
constexpr auto outcome_poll_interval = 100ms;
constexpr auto comparison_interval = 10s;
constexpr auto retry_interval = 1s;
constexpr std::size_t max_outcomes = 1000;
static_assert(outcome_poll_interval < max_wait_for_leader);
static_assert(retry_interval < max_wait_for_leader);

struct SharedState {
  KnownDirectories known;
  std::vector<DiskStep> steps;
};

SharedState shared_state(Connection& connection) {
  SharedState state;
  outbox_store::take_over_own(connection);
  outbox_store::for_each_known(connection, [&](std::string id, KnownDirectory known) {
    state.known.emplace_back(std::move(id), std::move(known));
  });
  state.steps = outbox_store::steps(connection);
  return state;
}

std::string outcome_key(std::int64_t sequence, bool succeeded) {
  // Its sign says whether the step succeeded.
  AGW_ASSERT(sequence > 0);
  return fmt::format("{}{}", succeeded ? "" : "-", sequence);
}

}  // namespace

Task<bool> ExtensionOutbox::await_executed(std::vector<std::int64_t> wanted) {
  AGW_ASSERT(is_shared());
  AGW_ASSERT(!wanted.empty());
  follow_recorded();
  const auto end = std::chrono::steady_clock::now() + max_wait_for_leader;
  const auto is_known = [this](auto sequence) { return outcomes_.contains(sequence); };
  while (!std::ranges::all_of(wanted, is_known)) {
    if (std::chrono::steady_clock::now() >= end) co_return false;
    if (co_await with_timeout(stopping_, outcome_poll_interval, outcome_.wait()) == WaitResult::stopped)
      co_return false;
  }
  co_return std::ranges::all_of(wanted, [this](auto sequence) { return outcomes_[sequence]; });
}

void ExtensionOutbox::follow(const std::vector<std::string>& keys) {
  for (const auto& key : keys) {
    std::int64_t number = 0;
    const auto* const end = key.data() + key.size();
    if (std::from_chars(key.data(), end, number).ptr != end || key.empty())
      comparison_wanted_.pulse();
    else
      outcomes_[std::abs(number)] = number > 0;
  }
  while (outcomes_.size() > max_outcomes) outcomes_.erase(outcomes_.begin());
  outcome_.pulse();
}

void ExtensionOutbox::follow_recorded() {
  AGW_ASSERT(is_shared());
  has_recorded_ = true;
  if (!leads_ || stopping_.requested() || std::exchange(is_executing_, true)) return;
  background_.spawn(execute_recorded());
}

Task<> ExtensionOutbox::have_compared() {
  co_await database_.write([](Connection& connection) { outbox_store::notify(connection, "compare"); });
}

void ExtensionOutbox::lead(std::function<Task<>()> compare) {
  AGW_ASSERT(is_shared());
  AGW_ASSERT(compare);
  if (stopping_.requested()) return;
  background_.spawn(leading(std::move(compare)));
}

Task<> ExtensionOutbox::leading(std::function<Task<>()> compare) {
  while (!co_await try_to_begin()) {
    if (co_await pause(stopping_, retry_interval) != WaitResult::done) co_return;
  }
  leads_ = true;
  follow_recorded();
  background_.spawn(prune_trash());
  do {
    try {
      co_await compare();
    } catch (const std::exception& error) {
      log::warn("cannot check shared directories of extensions for edits, trying again: {}", error.what());
    }
  } while (co_await with_timeout(stopping_, comparison_interval, comparison_wanted_.wait()) != WaitResult::stopped);
}

Task<bool> ExtensionOutbox::try_to_begin() {
  try {
    auto state = co_await database_.write(shared_state);
    auto [done, made] = co_await disk_.run([directories = directories_, state] {
      for (const auto& [id, known] : state.known) directories->set_known(id, known);
      auto executed = directories->repeat(state.steps);
      return std::pair(std::move(executed), directories->made());
    });
    co_await note_executed(std::move(state.steps), std::move(done), std::move(made));
    co_return true;
  } catch (const std::exception& error) {
    log::warn("cannot update shared directories of extensions, trying again: {}", error.what());
  }
  co_return false;
}

Task<> ExtensionOutbox::execute_recorded() {
  AGW_ASSERT(leads_);
  AGW_ASSERT(is_executing_);
  while (!stopping_.requested() && std::exchange(has_recorded_, false)) {
    bool failed = false;
    try {
      co_await execute_recorded_once();
    } catch (const std::exception& error) {
      log::warn("cannot update shared directories of extensions, trying again: {}", error.what());
      failed = true;
    }
    if (!failed) continue;
    has_recorded_ = true;
    co_await pause(stopping_, retry_interval);
  }
  AGW_ASSERT(is_executing_);
  is_executing_ = false;
}

Task<> ExtensionOutbox::execute_recorded_once() {
  auto steps = co_await database_.write(outbox_store::steps);
  std::erase_if(steps, [this](const DiskStep& step) { return executed_.contains(step.sequence); });
  if (steps.empty()) co_return;
  auto [done, made] = co_await disk_.run([directories = directories_, steps] {
    auto executed = directories->execute(steps);
    return std::pair(std::move(executed), directories->made());
  });
  co_await note_executed(std::move(steps), std::move(done), std::move(made));
}

Task<> ExtensionOutbox::note_executed(std::vector<DiskStep> steps, std::vector<std::int64_t> done,
                                      KnownDirectories made) {
  std::vector<std::string> outcomes;
  for (const auto& step : steps) {
    executed_.insert(step.sequence);
    outcomes.push_back(outcome_key(step.sequence, contains(done, step.sequence)));
  }
  schedule_deletion(done);
  co_await record_made(std::move(made));
  if (outcomes.empty()) co_return;
  follow(outcomes);
  co_await database_.write([outcomes = std::move(outcomes)](Connection& connection) {
    for (const auto& outcome : outcomes) outbox_store::notify(connection, outcome);
  });
}

}  // namespace agw
