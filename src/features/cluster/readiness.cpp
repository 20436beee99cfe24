#include "features/cluster/readiness.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/route.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "features/cluster/service.hpp"
#include "features/cluster/store.hpp"
#include "features/daemon/service.hpp"
#include "features/daemon/types.hpp"
#include "storage/database.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr int not_ready = 503;
constexpr auto database_timeout = 2s;

Task<Response> show_readiness(Readiness& readiness, Request& request) {
  const auto problems = co_await readiness.problems();
  if (problems.empty()) co_return request.respond(Status{"ready"});
  throw ApiError(not_ready, fmt::format("not ready: {}", fmt::join(problems, "; ")),
                 {{"reasons", json::array(problems.begin(), problems.end())}});
}

}  // namespace

Routes readiness_routes(Readiness& readiness) {
  return {get("/ready", "Whether requests should be sent to this gateway", show_readiness, readiness)
              .responds<Status>()
              .fails_with({not_ready})};
}

Readiness::Readiness(const Services& services) : services_(services), checked_(services.loop), group_(services.loop) {}

Task<> Readiness::stop() {
  stopping_.request();
  co_await group_.join();
}

Task<std::vector<std::string>> Readiness::problems() {
  std::vector<std::string> problems;
  if (services_.daemon.is_draining()) problems.emplace_back("it is about to stop");
  if (!services_.cluster.receives_events()) problems.emplace_back("the NATS server cannot be reached");
  if (!services_.is_on_server) co_return problems;
  if (auto problem = co_await problem_of_database(); !problem.empty()) problems.push_back(std::move(problem));
  co_return problems;
}

Task<std::string> Readiness::problem_of_database() {
  if (stopping_.requested()) co_return std::string("it is about to stop");
  if (!std::exchange(is_checking_, true)) {
    checked_.reset();
    group_.spawn(check_database());
  }
  const auto end = co_await with_timeout(stopping_, database_timeout, checked_.wait());
  co_return end == WaitResult::done ? database_problem_ : "the database does not answer";
}

Task<> Readiness::check_database() {
  AGW_ASSERT(is_checking_);
  AGW_ASSERT(services_.is_on_server);
  std::string found;
  try {
    if (!co_await services_.database.read(cluster_store::has_lease)) found = "its lease has expired";
  } catch (const std::exception& error) {
    log::warn("not ready: {}", error.what());
    found = "the database cannot be reached";
  }
  AGW_ASSERT(is_checking_);
  database_problem_ = std::move(found);
  is_checking_ = false;
  checked_.notify();
}

}  // namespace agw
