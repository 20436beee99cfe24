#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/cut.hpp"
#include "base/group.hpp"
#include "features/costs/service.hpp"
#include "features/signals/service.hpp"
#include "io/blocking.hpp"

namespace agw {

/// How an answer of a model ended, as far as it deserves a look.
struct WatchedAnswer {
  std::string provider;
  std::string failure;  ///< what the provider did wrong, for people; empty where it answered
  EventCause cause{};   ///< what led to it
};

/// Raises the signals that nobody but the gateway itself can raise:
/// `cost-spike`, once a day: today's costs are over 1 USD and over 3 times the median of the 14 days before.
/// `provider-errors`: a provider failed in spite of all retries; not again before it has answered.
/// `disk-low`: a write found no space, or less than 500 MB are left; not again before there is space.
class Watch {
public:
  Watch(Loop& loop, BlockingPool& blocking, Signals& signals, Costs& costs, const Clock& clock,
        std::filesystem::path data_directory);

  /// Looks after the disk each minute.
  void start();
  Task<> stop();

  // Each is told on the loop and returns at once.

  void disk_full();
  void answered(const WatchedAnswer& answer);
  void money_spent();

private:
  Task<> look_after_disk();
  Task<> look_at_disk();
  Task<> report_disk(std::uint64_t available);
  Task<> look_at_costs();
  Task<> raise(NewSignal wanted);

  BlockingPool& blocking_;
  Signals& signals_;
  Costs& costs_;
  const Clock& clock_;
  const std::filesystem::path data_directory_;
  bool disk_low_ = false;
  std::map<std::string, int, std::less<>> failures_;  ///< in a row, by provider
  std::optional<std::string> spike_day_;              ///< the last day of which it is known
  bool looking_at_costs_ = false;
  Stop stopping_;
  Group background_;
};

/// The median of the 14 days before the last of `days`, in USD; 0 without any.
double usual_cost(const std::vector<DayCost>& days);

/// What today's costs are held against, in USD: three times the median of the 14 days before the last of `days`, and 1
/// at least.
double spike_limit(const std::vector<DayCost>& days);

}  // namespace agw
