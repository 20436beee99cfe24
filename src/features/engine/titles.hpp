#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/async/cancellation.hpp"
#include "features/engine/engine_services.hpp"

namespace agw {

/// Asks a model for titles of threads whose first message is too long to be the title.
class Titles {
public:
  /// Requesting `stopping`, which must outlive this object, ends the calls of the model.
  Titles(const EngineServices& services, StopSource& stopping) : services_(services), stopping_(stopping) {}

  /// Finds a title for the thread of a completed run, if it needs one and is not deleted meanwhile.
  Task<> find(Run run);

private:
  Task<> ask_model(const Run& run);

  const EngineServices& services_;
  StopSource& stopping_;
  std::set<std::string, std::less<>> in_progress_;  ///< threads
};

}  // namespace agw
