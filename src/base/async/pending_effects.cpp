#include "base/async/pending_effects.hpp"

#include <utility>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"

namespace agw {

Task<> PendingEffects::of(Task<> work) {
  return run(std::move(work), ends_.insert(ends_.end(), std::make_shared<StopSource>()));
}

Task<> PendingEffects::run(Task<> work, Ends::iterator end) {
  struct Ending {
    Ends& ends;
    Ends::iterator end;
    ~Ending() {
      AGW_ASSERT(!ends.empty());
      AGW_ASSERT(!(*end)->requested());
      (*end)->request();
      ends.erase(end);
    }
  };
  const Ending ending{ends_, end};
  co_await std::move(work);
}

Task<> PendingEffects::settle() {
  for (const auto ends = ends_; const auto& end : ends) {
    if (!end->requested()) co_await until_requested(*end);
  }
}

}  // namespace agw
