#pragma once

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

/// How a model's answer ended, as far as alerts need it.
struct AnswerOutcome {
  std::string provider;
  std::string failure;  ///< what the provider did wrong, for people; empty if it answered
  EventCause cause{};   ///< what led to it
};

/// Raises the signals that only the gateway itself can raise:
/// `cost-spike`, once a day: today's costs are over 1 USD and over 3 times the median of the 14 days before.
/// `provider-errors`: a provider failed in spite of all retries; not again before it has answered.
/// `project-untrusted`: what agents follow in a trusted project has changed.
/// `database-damaged`: the daily check has found damage; not again before it has found none.
/// `disk-low`: a write found no space, or less than 500 MB are left; not again before there is space.
class Alerts : private Subscriber {
public:
  /// Without a `first_database_check`, the database is on a server: neither it nor that disk is checked.
  Alerts(Loop& loop, BlockingPool& blocking, Database& database, Hub& hub, Signals& signals, Costs& costs,
         const Clock& clock, std::filesystem::path data_directory,
         std::optional<std::chrono::seconds> first_database_check = std::chrono::minutes(15));

  /// Raises `project-untrusted` for these projects, which must live as long as this.
  void watch(Projects& projects);

  /// Checks the disk each minute, and the database a while after the start and then each day.
  void start();
  Task<> stop();

  /// On the loop; returns at once.
  void answered(const AnswerOutcome& answer);

private:
  void project_untrusted(const std::string& project, const std::string& diff);
  void deliver(const DomainEvent& event) override;
  void disk_full();
  void money_spent();
  Task<> watch_disk();
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
  const std::optional<std::chrono::seconds> first_database_check_;
  bool disk_low_ = false;
  bool database_damaged_ = false;
  std::map<std::string, int, std::less<>> failures_;  ///< in a row, by provider
  std::optional<std::string> spike_day_;              ///< the last day with a known spike
  bool looking_at_costs_ = false;
  StopSource stopping_;
  TaskGroup background_;
  Hub::Listening listening_;
};

/// The median of the 14 days before the last of `days`, in USD; 0 without any.
double usual_cost(const std::vector<DayCost>& days);

/// The threshold for today's costs, in USD: three times the median of the 14 days before the last of `days`, at
/// least 1.
double spike_limit(const std::vector<DayCost>& days);

/// How long after the start the database is checked: 15 minutes, unless a test's environment says otherwise.
std::chrono::seconds first_database_check();

}  // namespace agw
