#pragma once

#include <list>
#include <memory>

#include "base/async/cancellation.hpp"

namespace agw {

/// Side effects of a request that must be on disk before its response is sent, so that an acknowledged request keeps
/// all its effects even if the process is killed right after the response. Use it on the loop only.
/// Example: src/base/async/pending_effects_test.cpp: PendingEffects.SettlesOnceAllEffectsHaveEnded
class PendingEffects {
public:
  /// Wraps `work`, which the caller spawns in its own TaskGroup. The effect is pending until `work` has ended.
  Task<> of(Task<> work);

  bool over() const { return ends_.empty(); }
  /// Waits for the effects that are pending at the time of the call, not for later ones.
  Task<> settle();

private:
  using Ends = std::list<std::shared_ptr<StopSource>>;

  Task<> run(Task<> work, Ends::iterator end);

  Ends ends_;  ///< one per effect, requested when the effect ends
};

}  // namespace agw
