#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe/class.hpp>

#include "base/json/described.hpp"

namespace agw {

enum class Role { user, assistant, system, tool };
std::span<const EnumName> names(Tag<Role>);

/// How an agent may act on a thread: `plan` explores only, `act` has its tools.
enum class ThreadMode { plan, act };
std::span<const EnumName> names(Tag<ThreadMode>);

/// A conversation of one agent.
struct Thread {
  std::string id;
  std::string agent_id;  ///< of an agent extension, or any name that the creator gave
  std::optional<std::string> project_id;
  std::optional<std::string> job_id;  ///< the job extension whose run made it
  std::string title;
  bool archived = false;
  bool pinned = false;  ///< shown at the top of lists
  ThreadMode mode = ThreadMode::plan;
  Timestamp created_at;
  Timestamp updated_at;
  std::int64_t turn_count = 0;
};
// In the header, so that other rooms can describe structs that extend it.
BOOST_DESCRIBE_STRUCT(Thread, (),
                      (id, agent_id, project_id, job_id, title, archived, pinned, mode, created_at, updated_at,
                       turn_count))
const Description& describe(Tag<Thread>);
/// Structs that extend Thread must list it too: rules are not inherited.
inline constexpr RuleFor<&Thread::pinned> pinned_rule{{.about = "kept at the top of lists", .omit_empty = true}};

enum class TaskStatus { pending, active, done };
std::span<const EnumName> names(Tag<TaskStatus>);

/// An entry of an agent's to-do list on a thread.
struct ThreadTask {
  std::string text;
  TaskStatus status{};
};
const Description& describe(Tag<ThreadTask>);

/// Limits of a list: entries, and total bytes of their texts.
inline constexpr std::size_t max_tasks = 100;
inline constexpr std::size_t max_task_bytes = 16 * 1024;
std::size_t size_of(const std::vector<ThreadTask>& tasks);

/// `GET /threads/:id`: the thread, its active run and its agent's list of tasks.
struct ThreadDetail : Thread {
  json::value active_run;                        ///< null if there is none
  std::optional<std::vector<ThreadTask>> tasks;  ///< no value if the agent never kept a list
};
const Description& describe(Tag<ThreadDetail>);

/// One message of a thread.
struct Turn {
  std::string id;
  std::string thread_id;
  Role role{};
  std::string content;
  std::optional<json::object> metadata;  ///< `superseded: true` if a newer answer replaced the turn
  Timestamp created_at;
};
const Description& describe(Tag<Turn>);

/// A turn that a search found, with the part of its text around the search terms.
struct FoundTurn : Turn {
  std::string snippet;
};
const Description& describe(Tag<FoundTurn>);

/// The body of `POST /threads`. The members after the described three are for the gateway's own callers.
struct NewThread {
  std::optional<std::string> agent_id;    ///< id or name; defaults to `assistant`
  std::optional<std::string> title;       ///< defaults to the beginning of the first user turn
  std::optional<std::string> project_id;  ///< must exist
  std::optional<std::string> job_id;
  std::optional<ThreadMode> mode;  ///< defaults to the agent's mode, else plan
};
const Description& describe(Tag<NewThread>);

struct ThreadChange {
  std::optional<std::string> title;
  std::optional<bool> archived;
  std::optional<bool> pinned;
  Change<ThreadMode> mode;  ///< null means plan
};
const Description& describe(Tag<ThreadChange>);

/// Which threads `GET /threads` lists. Members without a value do not filter.
struct ThreadFilter {
  std::optional<std::string> agent_id;  ///< id or name
  /// The name of that agent, if it exists: threads that used the name before the agent was created belong to it too.
  /// Set by this room, not by clients.
  std::optional<std::string> agent_name;
  std::optional<std::string> project_id;
  std::optional<std::string> job_id;  ///< id or name
  bool archived = false;              ///< true lists archived ones too
  std::optional<Timestamp> since;     ///< updated strictly after
  std::optional<Limit> limit;         ///< lists all if unset
  std::optional<std::string> before;  ///< a thread id: lists the threads that follow it
};
const Description& describe(Tag<ThreadFilter>);

/// The roles by which a list of turns can be filtered.
enum class ListedRole { user, assistant };
std::span<const EnumName> names(Tag<ListedRole>);

/// Which turns of a thread `GET /threads/:id/turns` lists.
struct TurnFilter {
  Limit limit{50};
  std::optional<std::string> before;  ///< a turn of the thread: lists older ones
  std::optional<ListedRole> role;
  std::optional<Timestamp> since;  ///< created strictly after
};
const Description& describe(Tag<TurnFilter>);

/// The body of `POST /threads/:id/turns`.
struct NewTurn {
  std::string content;
  Role role{};
  std::optional<json::object> metadata;
};
const Description& describe(Tag<NewTurn>);

/// The body of `POST /threads/:id/fork`.
struct ForkPoint {
  /// The last turn to copy; none copies all.
  std::optional<std::string> turnId;  // NOLINT(readability-identifier-naming): the name on the wire
};
const Description& describe(Tag<ForkPoint>);

/// The query of `GET /turns/search`. `q`: words (all must match), "quoted phrases", prefix*, AND, OR, NOT, parentheses;
/// invalid syntax is read as plain words.
struct TurnSearch {
  std::string q;
  std::string agent_id;  ///< id or name
  Limit limit{20};
  std::optional<std::string> thread_id;
  std::optional<std::string> agent_name;  ///< as in ThreadFilter
};
const Description& describe(Tag<TurnSearch>);

/// A row of `GET /agents/:name/activity`.
struct ActivityRow {
  std::string turn_id;
  std::string thread_id;
  std::string thread_title;
  Role role{};
  std::string snippet;  ///< the first 150 characters of its content
  Timestamp created_at;
};
const Description& describe(Tag<ActivityRow>);

/// The title of a thread before its first message.
inline constexpr std::string_view untitled = "New thread";

/// A title from the first user turn: its first few words on one line, with `…` if there are more. Empty if it has no
/// words.
/// Example: src/features/threads/title_test.cpp: Title.IsTheFirstWordsOfALongTurn
std::string title_from(std::string_view content);

}  // namespace agw
