#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "features/checkpoints/store.hpp"

namespace agw {

/// The plan of an undo for one path.
struct UndoPlan {
  StoredChange::Kind kind = StoredChange::Kind::undo;  ///< undo, or redo: the undo of an undo
  bool restores = false;
  StoredState target{};                ///< if `restores`: the state to restore
  std::vector<std::int64_t> undone{};  ///< the numbers of the changes that it undoes
  std::string reason{};                ///< why the path or some of its changes are kept; empty if all are undone
};

inline constexpr std::string_view changed_since = "changed since";

/// Whether a change is one of the run itself and not undone.
bool is_active(const StoredChange& change);

/// Plans to undo a run's `changes` of a path, in order, whose present state is `now`. Undoes changes from the last one
/// backwards, as long as the state is the one that the change left. With `force`, returns to the state before the run,
/// regardless of the present state.
UndoPlan plan_undo(const std::vector<StoredChange>& changes, const StoredState& now, bool force);

/// Plans to undo the latest undo of the path.
UndoPlan plan_redo(const std::vector<StoredChange>& changes, const StoredState& now, bool force);

/// The state that an undo of all changes of the path, or a redo of the latest undo, would restore; null if there is
/// nothing to undo or redo.
const StoredState* goal_of(const std::vector<StoredChange>& changes, StoredChange::Kind kind);

/// The name of the temporary file that an undo creates next to the path and then renames.
std::string temporary_name_of(const StoredChange& undo);

}  // namespace agw
