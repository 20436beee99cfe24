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

/// A program that follows a run and runs its own tools for it. Called on the loop. Runs keep it alive until they end.
class RunClient {
public:
  virtual ~RunClient() = default;

  /// Text to append to the agent's system prompt; may be empty.
  virtual const std::string& system() const = 0;
  /// The program's tools, offered in addition to the agent's. Each replaces an agent's tool of the same name.
  virtual const std::vector<ToolDescription>& tools() const = 0;

  /// The program's parameters for the calls of the model.
  virtual CallSettings settings() const { return {}; }

  virtual void text(std::string_view delta) = 0;
  virtual void reasoning(std::string_view delta) = 0;
  /// The model has called these tools of the program. `result` follows for each.
  virtual void call(const std::vector<ToolUse>& uses) = 0;

  struct Result {
    std::string text;
    bool is_error = false;
    std::vector<Image> images{};
  };
  /// Waits, for a limited time, until the program has sent the result of the call.
  virtual Task<Result> result(std::string call_id, StopSource& stop) = 0;
  /// Whether the run waits for results that only another request of the program contains.
  virtual bool waits_for_request() const { return false; }

  /// Whether its tools can change files on this machine.
  virtual bool changes_files() const { return false; }

  /// The texts that the program has open. The agent's file tools read and write them instead of the files. Null: none.
  virtual TextBuffers* buffers() { return nullptr; }

  /// A call of a model has used these tokens.
  virtual void used(const Usage& /*usage*/) {}
  /// A call of a model has failed, after all retries and fallbacks. The run is about to end.
  virtual void model_failed(const ModelFailure& /*failure*/) {}

  /// The run has ended. `type` and `members` are those of its last event; an empty `type` means that the run was not
  /// stored. May be called more than once; only the first call counts.
  virtual void ended(std::string_view type, const json::object& members, std::string_view error) = 0;
};

}  // namespace agw
