#include "features/integrations/placed_integration.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/placements/service.hpp"
#include "storage/connection.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto before_next_claim = 1s;
constexpr auto wait_for_node = 15s;

std::string state_text(const Integration& integration) {
  json::array tools;
  for (const auto& tool : integration.tools()) {
    tools.push_back(
        {{"name", tool.name}, {"description", tool.description}, {"inputSchema", json::object(tool.input_schema)}});
  }
  return to_json(json::object{{"problem", integration.problem()}, {"tools", std::move(tools)}});
}

std::vector<OfferedTool> tools_in(const json::object& state) {
  std::vector<OfferedTool> tools;
  if (const auto* listed = array_member(state, "tools")) {
    for (const auto& each : *listed) {
      const auto& tool = each.as_object();
      tools.push_back({.name = string_or_empty(tool, "name"),
                       .description = string_or_empty(tool, "description"),
                       .input_schema = object_or_empty(tool, "inputSchema")});
    }
  }
  return tools;
}

}  // namespace

PlacedIntegration::PlacedIntegration(IntegrationSettings settings, Services services)
    : Integration(std::move(settings)),
      services_(std::move(services)),
      id_(this->settings().id),
      changed_(services_.loop) {}

PlacedIntegration::~PlacedIntegration() = default;

Task<> PlacedIntegration::run(StopSource& stop) {
  while (!stop.requested()) {
    if (co_await claim())
      co_await run_here(stop);
    else
      co_await follow(stop);
  }
}

Task<bool> PlacedIntegration::claim() {
  try {
    co_return co_await services_.placements.claim(id_);
  } catch (const DatabaseError& error) {
    log::debug("integration {}: not claimed: {}", settings().name, error.what());
  }
  co_return false;
}

/// Runs it on this node. If it fails, releases the claim, so that another node takes over.
Task<> PlacedIntegration::run_here(StopSource& stop) {
  AGW_ASSERT(!here_);
  AGW_ASSERT(!ending_);
  StopSource ending;
  const StopSource::Listener stopped(stop, [&] { ending.request(); });
  ending_ = &ending;
  here_ = services_.make();
  here_->on_change([this] {
    offer(here_->tools());
    report();
  });
  std::exception_ptr failure;
  try {
    co_await here_->run(ending);
  } catch (...) {
    failure = std::current_exception();
  }
  AGW_ASSERT(ending_ == &ending);
  ending_ = nullptr;
  const auto ended = std::exchange(here_, nullptr);
  ended->on_change([] {});
  problem_ = ended->problem();
  if (!failure && (!stop.requested() || services_.has_successor())) co_return;
  try {
    co_await services_.placements.remove(id_);
  } catch (const DatabaseError& error) {
    log::warn("integration {}: cannot release it for other nodes yet: {}", settings().name, error.what());
  }
  if (failure) std::rethrow_exception(failure);
}

/// Uses the state that another node reports, until no other node runs it.
Task<> PlacedIntegration::follow(StopSource& stop) {
  AGW_ASSERT(!here_);
  do {
    adopt();
    const bool is_known = !services_.placements.other_node(id_).empty();
    co_await with_timeout(stop, is_known ? no_limit : before_next_claim, changed_.wait());
  } while (!stop.requested() && !services_.placements.other_node(id_).empty());
}

void PlacedIntegration::placement_changed() {
  if (ending_ && !services_.placements.is_here(id_)) ending_->request();
  changed_.pulse();
}

void PlacedIntegration::report() const {
  AGW_ASSERT(here_);
  services_.placements.report_state(id_, state_text(*here_));
}

/// Takes over the state that the other node reports. While no node runs it, the last state remains.
void PlacedIntegration::adopt() {
  const auto* placement = services_.placements.find(id_);
  if (!placement || placement->state.empty() || placement->state == adopted_) return;
  adopted_ = placement->state;
  const auto state = parse_stored_json(adopted_);
  problem_ = string_or_empty(state.as_object(), "problem");
  offer(tools_in(state.as_object()));
}

Task<ToolOutcome> PlacedIntegration::call(std::string tool, const ToolCall& call) {
  // Keeps the integration alive, because it may be replaced during the call.
  if (const auto here = here_) co_return co_await here->call(std::move(tool), call);
  if (auto why = refusal_of(call, ""); !why.empty()) co_return failed(std::move(why));
  const auto until_placed = [](PlacedIntegration& self) -> Task<> {
    while (!self.here_ && self.services_.placements.other_node(self.id_).empty()) co_await self.changed_.wait();
  };
  co_await with_timeout(call.stop, wait_for_node, until_placed(*this));
  if (const auto here = here_) co_return co_await here->call(std::move(tool), call);
  auto node = services_.placements.other_node(id_);
  if (node.empty()) co_return failed(fmt::format("no node runs the integration {}", settings().name));
  co_return co_await services_.placements.others().call_tool(std::move(node), id_, std::move(tool), call);
}

}  // namespace agw
