// Take-over. A node whose lease has expired is claimed in one transaction (storage/postgres/lease), which also ends its
// runs of jobs and its permission requests, and reads what is kept of its runs. These end one by one. The claim is
// released only then.
//
//   - The node was only slow: its next transaction finds that it was claimed, writes nothing, and it starts anew. A
//     transaction of it that had begun before is put in one order with the claim: it is seen by it, or fails.
//   - The claimer dies: its claim expires like a lease, and another node claims.
//   - The node starts again meanwhile: both end its runs. A run ends once (run_store::end), whoever does it.

#include "features/cluster/service.hpp"

#include <functional>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "base/time/time.hpp"
#include "features/agents/service.hpp"
#include "features/approvals/service.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/service.hpp"
#include "features/jobs/service.hpp"
#include "features/model_services/service.hpp"
#include "features/projects/service.hpp"
#include "features/runs/service.hpp"
#include "storage/database.hpp"
#include "storage/postgres/lease.hpp"

namespace agw {

Cluster::Cluster(Services services) : services_(services), group_(services.loop) {
  group_.on_failure([](const std::exception_ptr& failure) {
    log::warn("the work of a lost node is taken over later: {}", message_of(failure));
  });
}

void Cluster::start() {
  auto& follower = services_.follower;
  follower.follow("extensions", std::bind_front(&Extensions::refresh, &services_.extensions));
  follower.follow("agent_stages", [this](const auto&) { return services_.stages.refresh(); });
  follower.follow("grants", [this](const auto&) { return services_.approvals.refresh(); });
  follower.follow("chosen_settings", [this](const auto&) { return services_.model_services.refresh(); });
  follower.follow("projects", [this](const auto&) { return services_.projects.refresh(); });
}

Task<> Cluster::stop() {
  co_await services_.follower.stop();
  co_await group_.join();
}

void Cluster::take_over(const LostNode& lost) {
  if (is_taking_over_ || group_.closing()) return;
  is_taking_over_ = true;
  group_.spawn(taking_over(lost));
}

Task<> Cluster::taking_over(LostNode lost) {
  struct Done {
    bool& flag;
    ~Done() { flag = false; }
  } const done{is_taking_over_};
  const auto claim = new_id();
  auto left = co_await services_.database.write(
      [lost, claim, now = services_.clock.now()](Connection& connection) -> std::optional<std::vector<InterruptedRun>> {
        if (!postgres::claim(connection, lost, claim)) return std::nullopt;
        const postgres::AsNode as(connection, lost.name);
        auto runs = Runs::interrupted(connection);
        Jobs::end_interrupted(connection, runs, now);
        Approvals::end_interrupted(connection, now);
        return runs;
      });
  if (!left) co_return;
  log::warn("the node {} is lost: its {} runs are ended here", lost.name, left->size());
  co_await services_.engine.end_interrupted(std::move(*left));
  co_await services_.database.write([claim](Connection& connection) { postgres::release(connection, claim); });
}

}  // namespace agw
