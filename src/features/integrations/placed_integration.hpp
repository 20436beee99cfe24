#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async/async_event.hpp"
#include "features/integrations/integration.hpp"

namespace agw {

class Placements;

/// An integration with its own process, of which a cluster needs only one: the first node to claim it runs it. The
/// others offer the tools that this node reports, and have it call them. If that node ends or is lost, one of them runs
/// it.
///
/// It needs nodes: tests/cluster/test_stdio_servers.py shows the use.
class PlacedIntegration : public Integration {
public:
  struct Services {
    Loop& loop;
    Placements& placements;
    std::function<std::unique_ptr<Integration>()> make;  ///< the one that this node runs
    std::function<bool()> has_successor;                 ///< after the stop: whether this node goes on to run it
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
  void tell() const;
  void adopt();

  const Services services_;
  const std::string& id_;
  AsyncEvent changed_;
  std::shared_ptr<Integration> here_;  ///< null: another node runs it, or none
  StopSource* ending_ = nullptr;       ///< of `here_`
  std::string adopted_;                ///< what the other node has told
  std::string problem_;                ///< by that
};

}  // namespace agw
