#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/async/wait_clock.hpp"
#include "base/json/json.hpp"
#include "models/model.hpp"
#include "tools/place.hpp"
#include "tools/text_buffers.hpp"

namespace agw {

/// The origin of a tool. The gateway's own tools are identified by their names. `program` is not a tool but a
/// long-running process of an app or integration, whose access to hosts is decided as for a command.
enum class ToolKind { own, prompt_action, builtin_action, shell_action, http_action, mcp_action, integration, program };

/// The side effects of a call. If all calls of a step read or fetch, they run concurrently. A dry run makes only calls
/// that read.
enum class ToolEffect { reads, fetches, writes, executes, calls_out };

/// The target of a call, as determined by the tool. Tools set the members that apply.
struct ToolTarget {
  std::optional<FilePlace> place{};   ///< of the file that it would access
  std::string path{};                 ///< of that file: absolute, resolved
  std::optional<std::string> host{};  ///< the host that it would call; for a command `host:port`
  bool url_was_named = false;         ///< WebFetch: a person or a search named the URL, or its host is configured
  bool record_is_own = false;         ///< UpdateExtension: the agent owns the record
  std::string command{};              ///< Bash: the command line
  bool needs_network = false;         ///< Bash: the command requires the network
};

/// Whether an agent may make a call.
struct Permission {
  enum class Verdict { allowed, staged, denied, ask };
  Verdict verdict = Verdict::allowed;
  std::string reason{};          ///< if denied or ask: `permission denied: …`, and how to get permission
  bool network = false;          ///< executed programs may use the network; the decision on each host is separate
  bool asks_hosts = false;       ///< or only the hosts that a person allows
  bool names_host = false;       ///< the capabilities name the target's host, so its address may be private
  bool names_loopback = false;   ///< without a target: they name the loopback of this machine, with some port
  bool disables_record = false;  ///< the extension that it creates or changes becomes disabled

  // Only for the verdict `ask`.

  Verdict otherwise = Verdict::denied;  ///< the verdict without an answer: denied or staged
  std::string rule{};                   ///< the rule that requires it, for that person
};

/// A tool's question to a person.
struct PersonQuestion {
  std::string question;
  std::vector<std::string> options{};  ///< proposed answers
  std::optional<json::object> form{};  ///< the JSON Schema of the answer; unset: the answer is a text
};

/// The result of a question.
struct PersonAnswer {
  enum class Kind { answered, declined, unanswered };
  Kind kind = Kind::unanswered;
  json::value answer{};  ///< a string, or a value that matches the form
  std::string reason{};  ///< why there is no answer
};

/// A change that a person must decide on: the content of a proposal.
struct StagedChange {
  std::string type;    ///< `soul`, `extension`, `file`, `knowledge`
  std::string title;   ///< one line
  std::string target;  ///< absolute, or relative to the data directory
  std::string content;
  std::string reason{};
};

/// The calling run, with the facts that tools need.
struct ToolRun {
  std::string run_id;
  std::string thread_id;
  std::string turn_id;  ///< the user's turn that it answers
  std::string agent_id;
  std::string agent_name;
  std::optional<std::string> project_id;
  FileRoots roots;         ///< relative paths start at its working directory
  json::object inherited;  ///< for runs that this one starts: its `stage`, `mode` and `depth`
};

/// One call. It outlives the task that `Tool::call` returns.
struct ToolCall {
  std::string id;
  json::object input;  ///< validated by the tool's schema
  const ToolRun& run;
  StopSource& stop;  ///< requested if the run was stopped or the call timed out: end soon, the result is discarded
  /// Whether the agent may access `target`. Pure and cheap. Call it with the target that was actually opened or
  /// connected to, not the requested one.
  std::function<Permission(const ToolTarget& target)> authorize;
  /// Stages a change instead of making it; returns the proposal's reference, `<agent>/<date>/<name>`.
  std::function<Task<std::string>(StagedChange change)> stage;
  /// Like `authorize`, but if a person should be asked, asks and waits: the result is never `ask`. `diff` shows the
  /// change that the call would make. Once permitted, `authorize` also allows this target, but no other: resolve
  /// the target again and authorize it before accessing it. Empty: no one can be asked.
  std::function<Task<Permission>(ToolTarget target, std::string diff)> ask_permission{};
  /// Asks the person whose message the run answers. Empty: no one can be asked.
  std::function<Task<PersonAnswer>(PersonQuestion question, StopSource& stop)> ask_person{};
  /// Searches the deferred tools of the run. The results are offered to the model from the next step on. Empty: there
  /// are no deferred tools.
  std::function<Task<std::vector<ToolDescription>>(std::string query)> find_tools{};
  TextBuffers* buffers = nullptr;    ///< of the editor that sent the message; null: it came from elsewhere
  const WaitClock* waits = nullptr;  ///< the time spent on asking, which does not count towards the call's time limits

  /// Calls `ask_permission`. Without it, returns the verdict that applies if no one answers.
  Task<Permission> permit(ToolTarget target, std::string diff = {}) const;
};

/// The result of a call as the model reads it. An exception becomes an error result: an ApiError with its text, any
/// other with `internal error`, and its cause is logged.
struct ToolOutcome {
  std::string output;  ///< UTF-8
  bool is_error = false;
  std::vector<Image> images{};             ///< for models that accept images; `output` describes them
  std::vector<std::string> found_tools{};  ///< deferred tools, offered from now on
};

/// An error result with the reason.
inline ToolOutcome failed(std::string why) { return {.output = std::move(why), .is_error = true}; }

/// A tool that agents can call.
/// Example: src/tools/files/read_test.cpp: ReadTool.ShowsLinesWithTheirNumbers
struct Tool {
  ToolDescription description;
  ToolKind kind = ToolKind::own;
  std::string group{};  ///< the name of its integration, if it has one
  ToolEffect effect = ToolEffect::reads;
  /// True: it calls `authorize` itself before it accesses its target. False: it has no target, and is authorized before
  /// the call.
  bool authorizes_itself = false;
  std::chrono::milliseconds limit =
      std::chrono::seconds(600);  ///< time limit of one call; then its `stop` is requested
  std::function<Task<ToolOutcome>(const ToolCall& call)> call;
};
using ToolPointer = std::shared_ptr<const Tool>;

/// The maximum length of a tool's result for a model, in characters.
inline constexpr std::size_t max_result_characters = 100'000;

/// Returns `text` (UTF-8). If it is too long, a line with the number of missing characters replaces its middle.
std::string truncate_middle(std::string_view text, std::size_t max_characters = max_result_characters);

}  // namespace agw
