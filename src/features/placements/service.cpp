#include "features/placements/service.hpp"

#include <chrono>
#include <utility>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "features/placements/store.hpp"
#include "storage/database.hpp"
#include "storage/start_write.hpp"

namespace agw {

namespace {

constexpr auto retry_interval = std::chrono::seconds(1);

}  // namespace

Placements::Placements(Loop& loop, Database& database, std::string node)
    : database_(database), node_(std::move(node)), group_(loop) {
  AGW_ASSERT(!node_.empty());
  group_.on_failure([](const std::exception_ptr& failure) {
    log::warn("other nodes do not know how a program of this one is: {}", message_of(failure));
  });
}

void Placements::load(Connection& connection, OtherPrograms& others) {
  AGW_ASSERT(!others_);
  AGW_ASSERT(placements_.empty());
  others_ = &others;
  write_at_start(connection, "handing over what this node ran", [&] { free_all(connection); });
  placements_ = placement_store::all(connection);
}

void Placements::start() {
  AGW_ASSERT(others_);
  for (const auto& [id, placement] : placements_) {
    for (const auto& listener : listeners_) listener(id);
  }
}

Task<> Placements::stop() {
  stopping_.request();
  co_await group_.join();
  AGW_DEBUG_ASSERT(unstored_states_.empty());
}

/// Uses a write, because results of writes arrive in the order of their commits.
Task<> Placements::refresh(std::vector<std::string> ids) {
  auto found = co_await database_.write([ids](Connection& connection) {
    std::vector<std::optional<Placement>> rows;
    rows.reserve(ids.size());
    for (const auto& id : ids) rows.push_back(placement_store::find(connection, id));
    return rows;
  });
  AGW_ASSERT(found.size() == ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) set(ids[i], std::move(found[i]));
}

void Placements::set(const std::string& extension_id, std::optional<Placement> placement) {
  const auto known = placements_.find(extension_id);
  if (placement ? known != placements_.end() && known->second == *placement : known == placements_.end()) return;
  if (placement)
    placements_[extension_id] = *std::move(placement);
  else
    placements_.erase(known);

  for (const auto& listener : listeners_) listener(extension_id);
}

const Placement* Placements::find(std::string_view extension_id) const {
  const auto found = placements_.find(extension_id);
  return found == placements_.end() ? nullptr : &found->second;
}

std::string Placements::other_node(std::string_view extension_id) const {
  const auto* placement = find(extension_id);
  return placement && placement->node != node_ ? placement->node : std::string();
}

bool Placements::is_here(std::string_view extension_id) const {
  const auto* placement = find(extension_id);
  return placement && placement->node == node_;
}

Task<bool> Placements::claim(std::string extension_id) {
  co_return co_await acquire(std::move(extension_id), placement_store::claim);
}

Task<bool> Placements::take(std::string extension_id) {
  co_return co_await acquire(std::move(extension_id), placement_store::take);
}

Task<bool> Placements::acquire(std::string extension_id,
                               std::optional<Placement> (*statement)(Connection&, const std::string&)) {
  auto claimed = co_await database_.write(
      [extension_id, statement](Connection& connection) { return statement(connection, extension_id); });
  if (!claimed) co_return false;
  AGW_DEBUG_ASSERT(claimed->node == node_);
  set(extension_id, std::move(claimed));
  co_return true;
}

Task<> Placements::offer(std::string extension_id) { co_await change(std::move(extension_id), placement_store::offer); }

Task<> Placements::remove(std::string extension_id) {
  co_await change(std::move(extension_id), placement_store::remove);
}

Task<> Placements::remove_free(std::string extension_id) {
  co_await change(std::move(extension_id), placement_store::remove_free);
}

Task<> Placements::change(std::string extension_id, void (*statement)(Connection&, const std::string&)) {
  auto left = co_await database_.write([extension_id, statement](Connection& connection) {
    statement(connection, extension_id);
    return placement_store::find(connection, extension_id);
  });
  set(extension_id, std::move(left));
}

void Placements::report_state(const std::string& extension_id, std::string state) {
  if (stopping_.requested()) return;
  const bool is_being_stored = unstored_states_.contains(extension_id);
  unstored_states_[extension_id] = std::move(state);
  if (!is_being_stored) group_.spawn(store(extension_id));
}

/// Returns when the latest state is stored.
Task<> Placements::store(std::string extension_id) {
  while (true) {
    AGW_ASSERT(unstored_states_.contains(extension_id));
    const auto state = unstored_states_.at(extension_id);
    const bool is_stored = co_await try_to_store(extension_id, state);
    const bool is_over = stopping_.requested() || (is_stored && unstored_states_.at(extension_id) == state);
    if (is_over || (!is_stored && co_await pause(stopping_, retry_interval) == WaitResult::stopped)) break;
  }
  unstored_states_.erase(extension_id);
}

Task<bool> Placements::try_to_store(const std::string& extension_id, const std::string& state) {
  try {
    co_await database_.write(
        [extension_id, state](Connection& connection) { placement_store::set_state(connection, extension_id, state); });
    has_warned_ = false;
    co_return true;
  } catch (const std::exception& error) {
    if (!std::exchange(has_warned_, true))
      log::warn("other nodes do not know yet how a program of this one is: {}", error.what());
  }
  co_return false;
}

void Placements::free_all(Connection& connection) {
  AGW_ASSERT(connection.in_transaction());
  placement_store::free_all(connection);
}

}  // namespace agw
