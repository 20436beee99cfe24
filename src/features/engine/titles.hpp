#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/cut.hpp"
#include "features/engine/answer_services.hpp"

namespace agw {

/// Titles that a model finds for threads whose first message is too long to be one.
class Titles {
public:
  /// `stopping` ends the model's calls; it outlives them.
  Titles(const AnswerServices& services, Stop& stopping) : services_(services), stopping_(stopping) {}

  /// Finds a title for the thread of a run that has been answered, where the thread wants one.
  Task<> find(Run run);

private:
  const AnswerServices& services_;
  Stop& stopping_;
  std::set<std::string, std::less<>> under_way_;  ///< threads
};

}  // namespace agw
