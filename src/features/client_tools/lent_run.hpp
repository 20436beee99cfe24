#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.hpp"
#include "features/client_tools/lender.hpp"
#include "features/runs/run_client.hpp"
#include "tools/text_buffers.hpp"

namespace agw {

/// A run with the tools that a program lent when the run began.
class LentRun : public RunClient, public TextBuffers {
public:
  explicit LentRun(std::shared_ptr<Lender> lender);

  const std::string& system() const override { return lent_.system; }
  const std::vector<ToolDescription>& tools() const override { return lent_.tools; }
  bool changes_files() const override { return true; }
  TextBuffers* buffers() override { return lent_.reads_files || lent_.writes_files ? this : nullptr; }

  void text(std::string_view) override {}
  void reasoning(std::string_view) override {}
  void call(const std::vector<ToolUse>& uses) override;
  Task<Result> result(std::string call_id, StopSource& stop) override;
  void ended(std::string_view, const json::object&, std::string_view) override {}

  Task<std::optional<std::string>> read(std::string path, StopSource& stop) override;
  Task<bool> write(std::string path, std::string text, StopSource& stop) override;

private:
  const std::shared_ptr<Lender> lender_;
  const LentTools lent_;
  std::map<std::string, json::object> calls_;  ///< of the current step: the message for each call, by the model's id
};

}  // namespace agw
