// The start and stop of a gateway. `begin` recovers the unfinished work of an earlier process, opens the server, and
// then starts everything that clients need not wait for. A signal or POST /stop calls `end`, which calls `shut_down`.
//
// `shut_down` stops features in a different order than their destruction: first the sources of new work (other nodes,
// jobs, research, messengers), then runs and the features that serve them, then the server, and last those that still
// write results. When the last coroutine has ended, `run` returns and the destructor may run.

#include <exception>
#include <functional>
#include <utility>

#include <boost/asio/post.hpp>

#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "gateway/gateway.hpp"
#include "io/process/loop_trace.hpp"
#include "io/process/process_setup.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto client_grace = 100ms, max_callback = 1ms;

}  // namespace

GatewayEnd Gateway::run(bool trace_loop) {
  life_.on_failure(std::bind_front(&Gateway::fail, this));
  // If the loop cannot be traced, nothing has begun.
  asio::post(loop_, [this] { life_.spawn(begin()); });
  {
    const DisallowBlocking scope;
    if (trace_loop) run_traced(loop_, max_callback, log_long_callback);
    if (!trace_loop) loop_.run();
  }
  database_.close();
  if (failure_) std::rethrow_exception(failure_);
  return {status_, port_};
}

Task<> Gateway::begin() {
  const bool was_interrupted = !interrupted_.empty();
  co_await engine_.recover(std::exchange(interrupted_, {}));
  if (is_node_ && was_interrupted) cluster_.have_all_catch_up("a node has restarted");
  co_await proposals_.recover();
  co_await research_.recover();
  // Not in a cluster, where another node may be in the middle of an undo.
  if (!is_node_) co_await checkpoints_.recover();
  // Published before anything keeps the loop running: if it fails, the gateway ends.
  lock_.publish(server_.url(), tls_ ? tls_->fingerprint() : "");
  server_.start();
  access_.start();
  Daemon::announce(server_.url());
  // Clients need not wait for the following. Nothing yields here, so no request is handled in between.
  extension_outbox_.start();
  proposals_.start();
  runs_.start();
  checkpoints_.start();
  threads_.start();
  shared_links_.start();
  knowledge_.start();
  jobs_.start();
  integrations_.start();
  browsers_.start();
  has_started_ = true;
  if (placements_ && !is_ending_) placements_->start();
  if (leads_ && !is_ending_) extensions_.lead();
  if (!is_node_ || leads_) channels_.start();
  alerts_.start();
  daemon_.start();
  idle_memory_.start();
  mcp_.start();
  release_program_pages();
}

// Only one node of a cluster connects to messengers: two would answer each message twice.
void Gateway::lead() {
  log::info("this node is the first one: channels are connected here");
  leads_ = true;
  // If the start failed, anything started here would outlive the gateway.
  if (!has_started_ || is_ending_) return;
  extensions_.lead();
  if (!daemon_.is_draining()) channels_.start();
}

void Gateway::lose() {
  if (is_ending_) return;
  log::error("this node restarts, because the others may have declared it lost");
  end(daemon_.is_draining() ? ExitStatus::success : ExitStatus::restart);
}

void Gateway::fail(std::exception_ptr failure) {
  failure_ = std::move(failure);
  if (!has_started_) life_.spawn(cluster_.stop());  // nothing else keeps the loop going yet
}

Task<> Gateway::drain(std::chrono::seconds limit) {
  cluster_.disconnect_clients();
  co_await jobs_.stop_schedule();
  co_await with_timeout(ending_, limit, client_api_.wait_until_idle());
  daemon_.end_after(0ms, ExitStatus::success);
}

void Gateway::end(ExitStatus status) {
  if (std::exchange(is_ending_, true)) return;
  ending_.request();
  status_ = status;
  life_.spawn(shut_down());
}

Task<> Gateway::shut_down() {
  database_.hurry();
  if (is_node_) cluster_.disconnect_clients();
  co_await readiness_.stop();
  co_await cluster_.stop();
  apps_.begin_stop();
  shell_.hurry();
  co_await access_.stop();
  co_await jobs_.disarm();
  co_await research_.stop();
  co_await channels_.stop();
  co_await engine_.stop();
  co_await client_api_.stop();
  co_await integrations_.stop();
  co_await model_services_.stop();
  co_await alerts_.stop();
  co_await briefings_.stop();
  co_await push_.stop();
  co_await shared_links_.stop();
  co_await mcp_.stop();
  co_await terminals_.stop();
  co_await browsers_.stop();
  co_await server_.stop(client_grace);
  co_await jobs_.stop();
  co_await apps_.stop();
  co_await knowledge_.stop();
  co_await thread_retention_.stop();
  co_await threads_.stop();
  co_await approvals_.stop();
  co_await checkpoints_.stop();
  co_await runs_.stop();
  co_await proposals_.stop();
  co_await extension_outbox_.stop();
  co_await idle_memory_.stop();
  if (is_node_) co_await cluster_.leave();
  daemon_.stop();
}

GatewayEnd run_gateway(const DataDirectory& directory, const Settings& settings, const Configured& configured,
                       LockFile& lock, bool trace_loop) {
  Loop loop;
  return Gateway(loop, directory, settings, configured, lock).run(trace_loop);
}

}  // namespace agw
