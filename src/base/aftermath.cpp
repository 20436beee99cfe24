#include "base/aftermath.hpp"

#include <utility>

#include "base/requested.hpp"

namespace agw {

Task<> Aftermath::of(Task<> work) { return run(std::move(work), ends_.insert(ends_.end(), std::make_shared<Stop>())); }

Task<> Aftermath::run(Task<> work, Ends::iterator end) {
  struct Ending {
    Ends& ends;
    Ends::iterator end;
    ~Ending() {
      (*end)->request();
      ends.erase(end);
    }
  };
  const Ending ending{ends_, end};
  co_await std::move(work);
}

Task<> Aftermath::settle() {
  for (const auto ends = ends_; const auto& end : ends) {
    if (!end->requested()) co_await requested(*end);
  }
}

}  // namespace agw
