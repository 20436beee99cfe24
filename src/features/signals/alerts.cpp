#include "features/signals/alerts.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "base/text/ascii.hpp"
#include "config/environment.hpp"
#include "features/projects/service.hpp"
#include "io/process/process.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds disk_check_interval = 60s;
constexpr auto database_check_interval = 24h;
constexpr auto max_database_check = 6h;
// One check has ended before the next begins.
static_assert(max_database_check < database_check_interval);
constexpr std::size_t max_check_output = 2000;
constexpr auto retry_interval = 1s;
constexpr std::uint64_t little_space = 500'000'000;  // bytes
constexpr double min_spike = 1;                      // USD
constexpr double spike_factor = 3;
constexpr std::size_t days_compared = 14;
constexpr std::string_view cost_spike = "cost-spike";

void log_failure(const std::exception_ptr& failure) {
  log::error("a signal could not be raised: {}", message_of(failure));
}

/// Sets the flag to false when it is destroyed.
struct UntilEnd {
  bool& flag;
  ~UntilEnd() { flag = false; }
};

/// 0 if nothing is there; no value if that cannot be found out.
std::optional<ino_t> inode_of(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return status.st_ino;
  return errno == ENOENT ? std::optional<ino_t>(0) : std::nullopt;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

double usual_cost(const std::vector<DayCost>& days) {
  std::vector<double> before;
  for (std::size_t i = days.size(); i-- > 1 && before.size() < days_compared;) before.push_back(days[i - 1].cost);
  return median(std::move(before));
}

double spike_limit(const std::vector<DayCost>& days) { return std::max(min_spike, spike_factor * usual_cost(days)); }

Alerts::Alerts(Loop& loop, BlockingPool& blocking, Database& database, Hub& hub, Signals& signals, Costs& costs,
               const Clock& clock, std::filesystem::path data_directory,
               std::optional<std::chrono::seconds> first_database_check)
    : loop_(loop),
      blocking_(blocking),
      signals_(signals),
      costs_(costs),
      clock_(clock),
      data_directory_(std::move(data_directory)),
      directory_inode_(inode_of(data_directory_)),
      first_database_check_(first_database_check),
      background_(loop),
      listening_(hub, *this) {
  background_.on_failure(log_failure);
  if (first_database_check_) database.on_disk_full([this] { disk_full(); });
}

void Alerts::watch(Projects& projects) {
  projects.on_untrusted(
      [this](const Project& project, const std::string& diff) { project_untrusted(project.name, diff); });
}

void Alerts::start() {
  background_.spawn(watch_disk());
  if (first_database_check_) background_.spawn(watch_database());
}

Task<> Alerts::stop() {
  stopping_.request();
  co_await background_.join();
}

Task<> Alerts::watch_disk() {
  const auto interval = std::clamp(first_database_check_.value_or(disk_check_interval), 1s, disk_check_interval);
  while (co_await pause(stopping_, interval) == WaitResult::done) {
    try {
      co_await check_directory();
      co_await check_disk();
    } catch (...) {
      log_failure(std::current_exception());
    }
  }
}

Task<> Alerts::check_directory() {
  const auto inode = co_await blocking_.run([directory = data_directory_] { return inode_of(directory); });
  if (!inode || inode == directory_inode_) {
    directory_gone_ = false;
  } else if (!std::exchange(directory_gone_, true)) {
    auto problem = fmt::format(
        "{} was moved or deleted while the gateway runs: what is stored now may be lost. Stop the "
        "gateway, put the directory back, and start again.",
        data_directory_.string());
    log::error("{}", problem);
    co_await raise({.kind = "data-directory-gone", .message = std::move(problem), .severity = Severity::critical});
  }
}

Task<> Alerts::check_disk() {
  const auto space = co_await blocking_.run([directory = data_directory_] {
    std::error_code error;  // on an error, all figures are at their maximum
    return std::filesystem::space(directory, error);
  });
  if (space.available >= little_space)
    disk_low_ = false;
  else if (!std::exchange(disk_low_, true))
    co_await report_disk(space.available);
}

Task<> Alerts::watch_database() {
  for (std::chrono::seconds wait = *first_database_check_; co_await pause(stopping_, wait) == WaitResult::done;
       wait = database_check_interval) {
    try {
      co_await check_database();
    } catch (...) {
      log_failure(std::current_exception());
    }
  }
}

/// Runs in a separate process, which has a lower priority and can be ended at any time.
Task<> Alerts::check_database() {
  ProcessOptions check{.arguments = {"/proc/self/exe", "doctor", "--database", "--data-dir", data_directory_.string()},
                       // The command line requires a home, which this check does not use.
                       .environment = {"LC_ALL=C.UTF-8", "HOME=" + data_directory_.string()},
                       .directory = data_directory_};
  const ProcessLimits limits{.time = max_database_check, .output = max_check_output};
  const auto result = co_await run_process(loop_, std::move(check), "", limits, stopping_);
  if (result.stopped || result.timed_out) co_return;
  constexpr int is_damaged = 1;
  if (result.end.exit_code != is_damaged) {
    if (result.end.exit_code != 0) log::warn("the database could not be checked: {}", to_utf8(result.output));
    database_damaged_ = result.end.exit_code == 0 ? false : database_damaged_;
    co_return;
  }
  if (std::exchange(database_damaged_, true)) co_return;
  auto problem = to_utf8(result.output);
  problem.resize(problem.find_last_not_of(white_space) + 1);
  log::error("{}", problem);
  co_await raise({.kind = "database-damaged",
                  .message = fmt::format("The database {}. Stop the gateway and restore a backup.", problem),
                  .severity = Severity::critical});
}

void Alerts::deliver(const DomainEvent& event) {
  if (event.record.as<MoneySpent>()) money_spent();
}

void Alerts::disk_full() {
  if (std::exchange(disk_low_, true) || stopping_.requested()) return;
  log::error("the disk that holds {} is full", data_directory_.string());
  background_.spawn(report_disk(0));
}

Task<> Alerts::report_disk(std::uint64_t available) {
  co_await raise({.kind = "disk-low",
                  .message = fmt::format("The disk that holds {} has {} MB left. Make space: writes fail without it.",
                                         data_directory_.string(), available / 1'000'000),
                  .severity = Severity::critical,
                  .value = static_cast<double>(available),
                  .baseline = static_cast<double>(little_space)});
}

void Alerts::answered(const AnswerOutcome& answer) {
  auto& failures = failures_[answer.provider];
  failures = answer.failure.empty() ? 0 : failures + 1;
  if (failures != 1 || stopping_.requested()) return;
  background_.spawn(raise({.kind = "provider-errors",
                           .message = fmt::format("The provider {} fails: {}", answer.provider, answer.failure),
                           .severity = Severity::warning,
                           .value = failures,
                           .cause = answer.cause}));
}

void Alerts::project_untrusted(const std::string& project, const std::string& diff) {
  if (stopping_.requested()) return;
  background_.spawn(raise({.kind = "project-untrusted",
                           .message = fmt::format("The project {} is no longer trusted, because what agents follow in "
                                                  "it has changed. Trust it again if that is right.\n\n{}",
                                                  project, diff),
                           .severity = Severity::warning}));
}

void Alerts::money_spent() {
  if (costs_.spent_today() <= min_spike || stopping_.requested() || std::exchange(looking_at_costs_, true)) return;
  background_.spawn(check_costs());
}

Task<> Alerts::check_costs() {
  AGW_ASSERT(looking_at_costs_);
  const UntilEnd check{looking_at_costs_};
  const auto days = (co_await costs_.report(CostPeriod::today)).days;
  // Read after the report, and including active runs: money spent while the report was read has not started a check.
  const auto spent = costs_.spent_today();
  AGW_CHECK(!days.empty(), "a report of costs without today");
  const auto& date = days.back().date;
  const auto limit = spike_limit(days);
  if (spike_day_ != date && spent > limit) {
    spike_day_ = date;
    // The signal may have been raised before a restart.
    const auto raised = co_await signals_.list({.kind = std::string(cost_spike), .since = clock_.now() - 24h});
    const auto is_of_today = [&](const Signal& signal) { return signal.message.find(date) != std::string::npos; };
    if (std::ranges::none_of(raised, is_of_today)) {
      co_await raise({.kind = std::string(cost_spike),
                      .message = fmt::format("{:.2f} USD were spent on {}, where {:.2f} were to be expected at most.",
                                             spent, date, limit),
                      .severity = Severity::warning,
                      .value = spent,
                      .baseline = usual_cost(days)});
    }
  }
}

/// Retries while the disk is full.
Task<> Alerts::raise(NewSignal wanted) {
  do {
    try {
      co_await signals_.raise(wanted);
      co_return;
    } catch (const DiskFull&) {
      continue;  // the signal may be about the full disk
    }
  } while (co_await pause(stopping_, retry_interval) == WaitResult::done);
}

std::chrono::seconds first_database_check() {
  const auto seconds = process_environment()("AGENT_GATEWAY_TEST_DATABASE_CHECK");
  return seconds ? std::chrono::seconds(std::atoi(seconds->c_str())) : std::chrono::minutes(15);
}

}  // namespace agw
