#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/cut.hpp"
#include "base/json.hpp"
#include "base/task.hpp"
#include "models/model.hpp"
#include "tools/place.hpp"

namespace agw {

/// Where a tool comes from. The gateway's own are told apart by their names.
enum class ToolKind { own, prompt_action, builtin_action, shell_action, http_action, mcp_action, integration };

/// What a call does besides answering. Calls of one step that all read or fetch run at the same time; a dry run makes
/// only those that read.
enum class ToolEffect { reads, fetches, writes, executes, calls_out };

/// What a call aims at, as the tool found it to be. A tool says what it has.
struct ToolTarget {
  std::optional<FilePlace> place{};   ///< of the file that it would touch
  std::string path{};                 ///< of that file: absolute, resolved
  std::optional<std::string> host{};  ///< that it would call
  bool url_was_named = false;         ///< WebFetch: a person or a search named the URL, or its host is configured
  bool record_is_own = false;         ///< UpdateExtension: the agent owns the record
};

/// Whether an agent may make a call.
struct Permission {
  enum class Verdict { allowed, staged, denied };
  Verdict verdict = Verdict::allowed;
  std::string reason{};          ///< of a denied one: `permission denied: …`, and what would allow it
  bool network = false;          ///< what it executes may reach the network
  bool disables_record = false;  ///< the extension that it makes or changes is disabled by that
};

/// A change that a person is to decide on: what a proposal is made from (decisions §8).
struct StagedChange {
  std::string type;    ///< `soul`, `extension`, `file`, `knowledge`
  std::string title;   ///< one line
  std::string target;  ///< absolute, or relative to the data directory
  std::string content;
  std::string reason{};
};

/// The run that calls, as far as its tools need it.
struct ToolRun {
  std::string run_id;
  std::string thread_id;
  std::string turn_id;  ///< the question that it answers
  std::string agent_id;
  std::string agent_name;
  std::optional<std::string> project_id;
  FileRoots roots;           ///< relative paths start at its working directory
  json::object handed_down;  ///< goes into the order of a run that this one starts: its `stage`, `mode` and `depth`
};

/// One call. It outlives the task that `Tool::call` returns.
struct ToolCall {
  std::string id;
  json::object input;  ///< valid by the tool's schema
  const ToolRun& run;
  Stop& stop;  ///< a person stops the run, or the call's time is over: end soon, what is returned is not read
  /// Whether the agent may do that. Pure and cheap; asked with what was really opened or connected to, not with what
  /// was asked for.
  std::function<Permission(const ToolTarget& target)> judge;
  /// Stages a change instead of making it; gives the proposal's reference, `<agent>/<date>/<name>`.
  std::function<Task<std::string>(StagedChange change)> stage;
};

/// What the model reads of a call. What a tool throws becomes an error result with its text where it is an ApiError,
/// else with `internal error` and the cause in the log.
struct ToolOutcome {
  std::string output;  ///< UTF-8
  bool is_error = false;
  std::vector<Image> images{};  ///< for models that see; `output` says what they are
};

/// Something that agents can call.
struct Tool {
  ToolDescription description;
  ToolKind kind = ToolKind::own;
  ToolEffect effect = ToolEffect::reads;
  /// True: it asks `judge` itself, before it touches its target. False: it has none, and is judged before the call.
  bool judges_itself = false;
  std::chrono::milliseconds limit = std::chrono::seconds(600);  ///< of one call; then its Stop is requested
  std::function<Task<ToolOutcome>(const ToolCall& call)> call;
};
using ToolPointer = std::shared_ptr<const Tool>;

}  // namespace agw
