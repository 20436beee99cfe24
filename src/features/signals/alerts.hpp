#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/costs/service.hpp"
#include "features/events/hub.hpp"
#include "features/signals/service.hpp"
#include "io/process/blocking.hpp"

namespace agw {

class Projects;

/// The outcome of a model's answer, with the facts that alerts need.
struct AnswerOutcome {
  std::string provider;
  std::string failure;  ///< the provider's error, for people; empty on success
  EventCause cause{};   ///< of the run
};

/// Raises the gateway's own signals:
/// - `cost-spike`, once a day: today's costs are over 1 USD and over 3 times the median of the 14 days before.
/// - `provider-errors`: a provider failed despite all retries; not again before it has answered.
/// - `project-untrusted`: files that agents follow in a trusted project have changed.
/// - `database-damaged`: the daily check has found damage; not again before it has found none.
/// - `data-directory-gone`: it was moved or deleted; not again before it is back.
/// - `disk-low`: a write found no space, or less than 500 MB are free; not again before there is space.
class Alerts : private Subscriber {
public:
  /// Without a `first_database_check`, the database is on a server: neither the database nor the server's disk is
  /// checked.
  Alerts(Loop& loop, BlockingPool& blocking, Database& database, Hub& hub, Signals& signals, Costs& costs,
         const Clock& clock, std::filesystem::path data_directory,
         std::optional<std::chrono::seconds> first_database_check = std::chrono::minutes(15));

  /// Raises `project-untrusted` for these projects, which must outlive this.
  void watch(Projects& projects);

  /// Checks the disk and the data directory every minute, and the database some time after startup and then daily.
  void start();
  Task<> stop();

  /// Call it on the loop; does not block.
  void answered(const AnswerOutcome& answer);

private:
  void project_untrusted(const std::string& project, const std::string& diff);
  void deliver(const DomainEvent& event) override;
  void disk_full();
  void money_spent();
  Task<> watch_disk();
  Task<> check_directory();
  Task<> check_disk();
  Task<> report_disk(std::uint64_t available);
  Task<> watch_database();
  Task<> check_database();
  Task<> check_costs();
  Task<> raise(NewSignal wanted);

  Loop& loop_;
  BlockingPool& blocking_;
  Signals& signals_;
  Costs& costs_;
  const Clock& clock_;
  const std::filesystem::path data_directory_;
  const std::optional<ino_t> directory_inode_;  ///< of the start
  const std::optional<std::chrono::seconds> first_database_check_;
  bool directory_gone_ = false;
  bool disk_low_ = false;
  bool database_damaged_ = false;
  std::map<std::string, int, std::less<>> failures_;  ///< in a row, by provider
  std::optional<std::string> spike_day_;              ///< the day of the last spike
  bool looking_at_costs_ = false;
  StopSource stopping_;
  TaskGroup background_;
  Hub::Listening listening_;
};

/// Returns the median of the 14 days before the last of `days`, in USD; 0 without any.
double usual_cost(const std::vector<DayCost>& days);

/// Returns the threshold for today's costs, in USD: three times the median of the 14 days before the last of `days`, at
/// least 1.
double spike_limit(const std::vector<DayCost>& days);

/// The delay from startup to the first check of the database: 15 minutes, unless the environment of a test overrides
/// it.
std::chrono::seconds first_database_check();

}  // namespace agw
