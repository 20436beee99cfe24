#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "models/model.hpp"
#include "tools/text_buffers.hpp"

namespace agw {

/// A program that follows a run and runs its own tools for it. Called on the loop. It outlives no run that has it.
class RunClient {
public:
  virtual ~RunClient() = default;

  /// Follows the agent's system prompt; may be empty.
  virtual const std::string& system() const = 0;
  /// Offered to the model in addition to the agent's; each hides one of the agent's with the same name.
  virtual const std::vector<ToolDescription>& tools() const = 0;

  /// The program's parameters for the calls of the model.
  virtual CallSettings settings() const { return {}; }

  virtual void text(std::string_view delta) = 0;
  virtual void reasoning(std::string_view delta) = 0;
  /// The model has called these tools of the program. `result` follows for each.
  virtual void call(const std::vector<ToolUse>& uses, const json::object& progress) = 0;

  struct Result {
    std::string text;
    bool is_error = false;
  };
  /// Waits until the program has sent the result of the call, and not for ever.
  virtual Task<Result> result(std::string call_id, StopSource& stop) = 0;

  /// Whether its tools can change files of this machine.
  virtual bool changes_files() const { return false; }

  /// The texts that the program has open, which the agent's file tools then read and write; null: it has none.
  virtual TextBuffers* buffers() { return nullptr; }

  /// The call of a model has failed for good. The run ends soon.
  virtual void model_failed(const ModelFailure& /*failure*/) {}

  /// The run has ended, and is stored unless `type` is empty: `type` and `members` are those of its last event. May be
  /// called more than once; the first counts.
  virtual void ended(std::string_view type, const json::object& members, std::string_view error) = 0;
};

}  // namespace agw
