#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "features/checkpoints/store.hpp"

namespace agw {

/// What an undo does with one path.
struct UndoPlan {
  StoredChange::Kind kind = StoredChange::Kind::undo;  ///< undo, or redo: the undo of an undo
  bool restores = false;
  StoredState target{};                ///< if it restores: the state to bring back
  std::vector<std::int64_t> undone{};  ///< the numbers of the changes that it undoes
  std::string reason{};                ///< why the path, or a part of its changes, is kept; empty if all is undone
};

inline constexpr std::string_view changed_since = "changed since";

/// Whether a change of the run is not undone.
bool is_active(const StoredChange& change);

/// Plans to undo what a run did to a path that is now `now`. `changes` are the run's changes of the path, in order. It
/// goes back from the last change as long as it finds the state that the run left. With `force` it goes back to the
/// state before the run, regardless of the present state.
UndoPlan plan_undo(const std::vector<StoredChange>& changes, const StoredState& now, bool force);

/// Plans to undo the latest undo of the path.
UndoPlan plan_redo(const std::vector<StoredChange>& changes, const StoredState& now, bool force);

/// The state that an undo of all changes of the path, or the redo of the latest undo, brings back; null if there is
/// nothing to undo or to redo.
const StoredState* goal_of(const std::vector<StoredChange>& changes, StoredChange::Kind kind);

/// The name under which an undo keeps a file next to its path until it is in place.
std::string temporary_name_of(const StoredChange& undo);

}  // namespace agw
