#include "features/checkpoints/undo_plan.hpp"

#include <algorithm>
#include <optional>
#include <ranges>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "io/files/atomic_file.hpp"

namespace agw {

namespace {

constexpr auto not_kept = "its former content was not kept";
constexpr auto other_kind = "changed since: it is now of another kind";
constexpr auto as_before = "it already is what it was before";

/// Whether the present state already equals the target.
bool is_restored(const StoredState& now, const StoredState& target) {
  return now.is_same(target) && (now.kind == EntryKind::absent || now.mode == target.mode);
}

UndoPlan kept(StoredChange::Kind kind, std::string reason) {
  AGW_ASSERT(kind != StoredChange::Kind::write);
  AGW_ASSERT(!reason.empty());
  return {.kind = kind, .reason = std::move(reason)};
}

/// The changes of one path, in order.
void assert_of_one_path(const std::vector<StoredChange>& changes) {
  AGW_ASSERT(std::ranges::is_sorted(changes, {}, &StoredChange::number));
  AGW_DEBUG_ASSERT(std::ranges::all_of(changes, [&](const auto& each) { return each.path == changes.front().path; }));
}

std::string why_changed(const StoredState& now) {
  return std::string(changed_since) + (now.kind == EntryKind::absent ? ": it was deleted" : "");
}

bool is_directory(const StoredState& state) { return state.kind == EntryKind::directory; }

/// Completes the plan, unless the target cannot be restored. `as_left`: the present state is the one that the run left.
UndoPlan checked(UndoPlan plan, const StoredState& now, bool as_left) {
  AGW_ASSERT(!plan.undone.empty());
  AGW_ASSERT(!plan.restores);
  if (plan.target.has_content() && !plan.target.hash) return kept(plan.kind, not_kept);
  const bool are_directories = is_directory(now) && is_directory(plan.target);
  if (are_directories || is_restored(now, plan.target)) return kept(plan.kind, as_before);
  const bool is_exchange = now.kind != EntryKind::absent && plan.target.kind != EntryKind::absent;
  const bool is_other_kind = is_exchange && (is_directory(now) || is_directory(plan.target));
  if (now.kind == EntryKind::other || (is_other_kind && !as_left)) return kept(plan.kind, other_kind);
  plan.restores = true;
  return plan;
}

}  // namespace

bool is_active(const StoredChange& change) { return change.kind == StoredChange::Kind::write && !change.undone_by; }

UndoPlan plan_undo(const std::vector<StoredChange>& changes, const StoredState& now, bool force) {
  assert_of_one_path(changes);
  std::vector<const StoredChange*> active;
  for (const auto& change : changes) {
    if (is_active(change)) active.push_back(&change);
  }
  AGW_ASSERT(!active.empty());
  UndoPlan plan{.kind = StoredChange::Kind::undo, .target = now};
  auto left = active.size();
  for (; left > 0; --left) {
    const auto& change = *active[left - 1];
    // If the file is in the state before the change, the change never happened or a person has reverted it.
    if (!plan.target.is_same(change.after) && !plan.target.is_same(change.before)) break;
    plan.target = change.before;
    plan.undone.push_back(change.number);
  }
  const bool as_left = left == 0;
  const auto left_kind = active.back()->after.kind;
  // A new file at a path that the run deleted may be replaced, because its content is stored first.
  const bool is_new = left_kind == EntryKind::absent && now.has_content();
  if (!as_left && force && now.kind != EntryKind::absent && now.kind != left_kind && !is_new) {
    return kept(plan.kind, other_kind);
  }
  if (left > 0 && force) {
    plan.target = active.front()->before;
    plan.undone.clear();
    for (const auto* const change : active) plan.undone.push_back(change->number);
    left = 0;
  }
  AGW_ASSERT(plan.undone.size() == active.size() - left);
  if (plan.undone.empty()) return kept(plan.kind, why_changed(now));
  if (left > 0) plan.reason = "changed by somebody else between changes of the run: what they left is back";
  return checked(std::move(plan), now, as_left || !force);
}

UndoPlan plan_redo(const std::vector<StoredChange>& changes, const StoredState& now, bool force) {
  assert_of_one_path(changes);
  for (const auto& change : changes | std::views::reverse) {
    if (change.kind != StoredChange::Kind::undo || change.undone_by) continue;
    const bool as_left = now.is_same(change.after) || now.is_same(change.before);
    if (!force && !as_left) {
      return kept(StoredChange::Kind::redo, why_changed(now));
    }
    return checked({.kind = StoredChange::Kind::redo, .target = change.before, .undone = {change.number}}, now,
                   as_left);
  }
  return kept(StoredChange::Kind::redo, "nothing of it was undone");
}

const StoredState* goal_of(const std::vector<StoredChange>& changes, StoredChange::Kind kind) {
  AGW_ASSERT(kind != StoredChange::Kind::write);
  if (kind == StoredChange::Kind::undo) {
    const auto first = std::ranges::find_if(changes, is_active);
    return first == changes.end() ? nullptr : &first->before;
  }
  for (const auto& change : changes | std::views::reverse) {
    if (change.kind == StoredChange::Kind::undo && !change.undone_by) return &change.before;
  }
  return nullptr;
}

std::string temporary_name_of(const StoredChange& undo) {
  AGW_ASSERT(undo.number > 0);
  return agw::temporary_name_of(fmt::format("{} {}", undo.run_id, undo.number));
}

}  // namespace agw
