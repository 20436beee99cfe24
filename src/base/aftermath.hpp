#pragma once

#include <list>
#include <memory>

#include "base/cut.hpp"

namespace agw {

/// What a request has caused beside its own work and must be on disk before the request is answered: what is
/// acknowledged has all its consequences, also when the process is killed right behind the answer. On the loop.
class Aftermath {
public:
  /// `work`, for a Group of the caller to run. It belongs to the aftermath from now on, until it has ended.
  Task<> of(Task<> work);

  bool over() const { return ends_.empty(); }
  /// Waits for all that belongs to it now, not for what comes later.
  Task<> settle();

private:
  using Ends = std::list<std::shared_ptr<Stop>>;

  Task<> run(Task<> work, Ends::iterator end);

  Ends ends_;  ///< one of each work, requested when it ends
};

}  // namespace agw
