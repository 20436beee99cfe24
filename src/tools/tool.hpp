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

/// The origin of a tool. The gateway's own tools are identified by their names. `program` is no tool: what an app or
/// integration runs all the time, which reaches hosts as a command does.
enum class ToolKind { own, prompt_action, builtin_action, shell_action, http_action, mcp_action, integration, program };

/// The side effects of a call. Calls of one step that all read or fetch run concurrently; a dry run makes only those
/// that read.
enum class ToolEffect { reads, fetches, writes, executes, calls_out };

/// The target of a call, as the tool found it to be. Tools fill in what applies.
struct ToolTarget {
  std::optional<FilePlace> place{};   ///< of the file that it would touch
  std::string path{};                 ///< of that file: absolute, resolved
  std::optional<std::string> host{};  ///< the host that it would call; of a command `host:port`
  bool url_was_named = false;         ///< WebFetch: a person or a search named the URL, or its host is configured
  bool record_is_own = false;         ///< UpdateExtension: the agent owns the record
  std::string command{};              ///< Bash: what the shell is given
  bool needs_network = false;         ///< Bash: the command is to reach the network
};

/// Whether an agent may make a call.
struct Permission {
  enum class Verdict { allowed, staged, denied, ask };
  Verdict verdict = Verdict::allowed;
  std::string reason{};          ///< if denied, or to be asked: `permission denied: …`, and what would allow it
  bool network = false;          ///< what it executes may reach the network; each host is judged, too
  bool asks_hosts = false;       ///< or only the hosts that a person allows
  bool names_host = false;       ///< the capabilities name the target's host, so that it may be at a private address
  bool names_loopback = false;   ///< without a target: they name this host's loopback, at some port
  bool disables_record = false;  ///< the extension that it creates or changes becomes disabled

  // If a person should be asked.

  Verdict otherwise = Verdict::denied;  ///< what holds if nobody answers: denied or staged
  std::string rule{};                   ///< which rule asks, for that person
};

/// A tool's question to the person.
struct PersonQuestion {
  std::string question;
  std::vector<std::string> options{};  ///< proposed answers
  std::optional<json::object> form{};  ///< the JSON Schema of the answer; none: the answer is a text
};

/// The outcome.
struct PersonAnswer {
  enum class Kind { answered, declined, unanswered };
  Kind kind = Kind::unanswered;
  json::value answer{};  ///< a string, or what the form asks for
  std::string reason{};  ///< why there is none
};

/// A change that a person must decide on: the source of a proposal.
struct StagedChange {
  std::string type;    ///< `soul`, `extension`, `file`, `knowledge`
  std::string title;   ///< one line
  std::string target;  ///< absolute, or relative to the data directory
  std::string content;
  std::string reason{};
};

/// The calling run, as far as tools need it.
struct ToolRun {
  std::string run_id;
  std::string thread_id;
  std::string turn_id;  ///< the user's turn that it answers
  std::string agent_id;
  std::string agent_name;
  std::optional<std::string> project_id;
  FileRoots roots;         ///< relative paths start at its working directory
  json::object inherited;  ///< inherited by runs that this one starts: its `stage`, `mode` and `depth`
};

/// One call. It outlives the task that `Tool::call` returns.
struct ToolCall {
  std::string id;
  json::object input;  ///< validated by the tool's schema
  const ToolRun& run;
  StopSource& stop;  ///< the run was stopped, or the call timed out: end soon, the result is discarded
  /// Whether the agent may do that. Pure and cheap; called with the target that was really opened or connected to, not
  /// the requested one.
  std::function<Permission(const ToolTarget& target)> authorize;
  /// Stages a change instead of making it; returns the proposal's reference, `<agent>/<date>/<name>`.
  std::function<Task<std::string>(StagedChange change)> stage;
  /// Like `authorize`, but if a person should be asked, it asks and waits: the result is never `ask`. `diff` shows what
  /// the call would change. Once allowed, `authorize` allows that same target too, and no other: resolve the target
  /// anew and authorize it before it is touched. Empty: nobody is asked.
  std::function<Task<Permission>(ToolTarget target, std::string diff)> ask_permission{};
  /// Puts a question to the person whose message the run answers. Empty: nobody is there.
  std::function<Task<PersonAnswer>(PersonQuestion question, StopSource& stop)> ask_person{};
  /// Searches the deferred tools of the run; those that it returns are offered from the next step on. Empty: there are
  /// none.
  std::function<Task<std::vector<ToolDescription>>(std::string query)> find_tools{};
  TextBuffers* buffers = nullptr;    ///< of the editor that the message came from; null: there is none
  const WaitClock* waits = nullptr;  ///< counts the time spent on asking, which no limit of the call includes

  /// `ask_permission`, or what holds without anybody.
  Task<Permission> permit(ToolTarget target, std::string diff = {}) const;
};

/// The result of a call as the model reads it. An exception becomes an error result, with its text if it is an
/// ApiError, else with `internal error` and the cause in the log.
struct ToolOutcome {
  std::string output;  ///< UTF-8
  bool is_error = false;
  std::vector<Image> images{};             ///< for models that accept images; `output` describes them
  std::vector<std::string> found_tools{};  ///< deferred tools that are offered from now on
};

/// An error result with the reason.
inline ToolOutcome failed(std::string why) { return {.output = std::move(why), .is_error = true}; }

/// Something that agents can call.
/// Example: src/tools/files/read_test.cpp: ReadTool.ShowsLinesWithTheirNumbers
struct Tool {
  ToolDescription description;
  ToolKind kind = ToolKind::own;
  std::string group{};  ///< the name of the integration that it comes from
  ToolEffect effect = ToolEffect::reads;
  /// True: it calls `authorize` itself before it touches its target. False: it has no target, and is authorized before
  /// the call.
  bool authorizes_itself = false;
  std::chrono::milliseconds limit = std::chrono::seconds(600);  ///< of one call; then its `stop` is requested
  std::function<Task<ToolOutcome>(const ToolCall& call)> call;
};
using ToolPointer = std::shared_ptr<const Tool>;

/// The number of characters of a tool's result that a model reads at most.
inline constexpr std::size_t max_result_characters = 100'000;

/// `text` (UTF-8); if it is longer, its middle is replaced by a line that says how much is missing.
std::string truncate_middle(std::string_view text, std::size_t max_characters = max_result_characters);

}  // namespace agw
