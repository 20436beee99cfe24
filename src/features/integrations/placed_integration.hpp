#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async/async_event.hpp"
#include "features/integrations/integration.hpp"

namespace agw {

class Placements;

/// An integration with its own process, of which a cluster needs only one: the first node that claims it runs it. The
/// other nodes offer the tools that this node reports, and have it make the calls. If that node ends or is lost,
/// another one takes over.
///
/// It needs several nodes: tests/cluster/test_stdio_servers.py shows the use.
class PlacedIntegration : public Integration {
public:
  struct Services {
    Loop& loop;
    Placements& placements;
    std::function<std::unique_ptr<Integration>()> make;  ///< makes the integration to run on this node
    std::function<bool()> has_successor;                 ///< after the stop: whether this node will run it again
  };
  PlacedIntegration(IntegrationSettings settings, Services services);
  ~PlacedIntegration() override;

  Task<> run(StopSource& stop) override;
  Task<ToolOutcome> call(std::string tool, const ToolCall& call) override;
  std::string problem() const override { return here_ ? here_->problem() : problem_; }
  bool is_here() const override { return here_ != nullptr; }
  void placement_changed() override;

private:
  Task<bool> claim();
  Task<> run_here(StopSource& stop);
  Task<> follow(StopSource& stop);
  void report() const;
  void adopt();

  const Services services_;
  const std::string& id_;
  AsyncEvent changed_;
  std::shared_ptr<Integration> here_;  ///< null: another node runs it, or none
  StopSource* ending_ = nullptr;       ///< of `here_`
  std::string adopted_;                ///< the state that the other node reported last
  std::string problem_;                ///< from that state
};

}  // namespace agw
