#include "features/threads/types.hpp"

#include "base/json/describe.hpp"
#include "features/threads/transfer_types.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(Role, user, assistant, system, tool)
std::span<const EnumName> names(Tag<Role>) { return enum_names<Role>(); }

BOOST_DESCRIBE_ENUM(ThreadMode, plan, act)
std::span<const EnumName> names(Tag<ThreadMode>) { return enum_names<ThreadMode>(); }

BOOST_DESCRIBE_ENUM(ListedRole, user, assistant)
std::span<const EnumName> names(Tag<ListedRole>) { return enum_names<ListedRole>(); }

constexpr auto rules(Tag<Thread>) {
  return std::tuple{RuleFor<&Thread::agent_id>{{.about = "the agent that answers"}},
                    RuleFor<&Thread::job_id>{{.about = "the job whose run made it"}}, pinned_rule,
                    RuleFor<&Thread::updated_at>{{.about = "moves with its turns, title, mode and archived"}}};
}
const Description& describe(Tag<Thread>) { return description_of<Thread>("Thread"); }

BOOST_DESCRIBE_ENUM(TaskStatus, pending, active, done)
std::span<const EnumName> names(Tag<TaskStatus>) { return enum_names<TaskStatus>(); }

BOOST_DESCRIBE_STRUCT(ThreadTask, (), (text, status))
const Description& describe(Tag<ThreadTask>) { return description_of<ThreadTask>("ThreadTask"); }

std::size_t size_of(const std::vector<ThreadTask>& tasks) {
  std::size_t size = 0;
  for (const auto& task : tasks) size += task.text.size();
  return size;
}

BOOST_DESCRIBE_STRUCT(ThreadDetail, (Thread), (active_run, tasks))
constexpr auto rules(Tag<ThreadDetail>) {
  return std::tuple{
      RuleFor<&ThreadDetail::active_run>{{.about = "what is being answered: runId, turnId, seq, text, tools"}},
      RuleFor<&ThreadDetail::tasks>{
          {.about = "the list that its agent keeps with the tool Tasks; omitted before the first call",
           .omit_null = true}},
      pinned_rule};
}
const Description& describe(Tag<ThreadDetail>) { return description_of<ThreadDetail>("ThreadDetail"); }

BOOST_DESCRIBE_STRUCT(Turn, (), (id, thread_id, role, content, metadata, created_at))
const Description& describe(Tag<Turn>) { return description_of<Turn>("Turn"); }

BOOST_DESCRIBE_STRUCT(FoundTurn, (Turn), (snippet))
constexpr auto rules(Tag<FoundTurn>) {
  return std::tuple{RuleFor<&FoundTurn::snippet>{{.about = "plain text around what was sought"}}};
}
const Description& describe(Tag<FoundTurn>) { return description_of<FoundTurn>("FoundTurn"); }

BOOST_DESCRIBE_STRUCT(TranscriptTurn, (Turn), (in_reply_to))
constexpr auto rules(Tag<TranscriptTurn>) {
  return std::tuple{RuleFor<&TranscriptTurn::in_reply_to>{{.about = "the user turn that it answers"}}};
}
const Description& describe(Tag<TranscriptTurn>) { return description_of<TranscriptTurn>("TranscriptTurn"); }

BOOST_DESCRIBE_STRUCT(NewThread, (), (agent_id, title, project_id))
constexpr auto rules(Tag<NewThread>) {
  return std::tuple{RuleFor<&NewThread::agent_id>{{.about = "an agent's id or name; assistant when omitted"}},
                    RuleFor<&NewThread::title>{{.about = "made from the first user turn when omitted"}}};
}
const Description& describe(Tag<NewThread>) { return description_of<NewThread>("NewThread"); }

BOOST_DESCRIBE_STRUCT(ThreadChange, (), (title, archived, pinned, mode))
constexpr auto rules(Tag<ThreadChange>) {
  return std::tuple{RuleFor<&ThreadChange::mode>{{.about = "null means plan", .invalid = "unknown mode: "}}};
}
const Description& describe(Tag<ThreadChange>) { return description_of<ThreadChange>("ThreadChange"); }

BOOST_DESCRIBE_STRUCT(ThreadFilter, (), (agent_id, project_id, job_id, archived, since, limit, before))
constexpr auto rules(Tag<ThreadFilter>) {
  return std::tuple{
      RuleFor<&ThreadFilter::archived>{{.about = "true lists archived threads too", .has_default = true}},
      RuleFor<&ThreadFilter::since>{{.about = "updated after"}},
      RuleFor<&ThreadFilter::limit>{{.about = "all when omitted"}},
      RuleFor<&ThreadFilter::before>{{.about = "a thread: those listed after it; none if it is unknown"}}};
}
const Description& describe(Tag<ThreadFilter>) { return description_of<ThreadFilter>("ThreadFilter"); }

BOOST_DESCRIBE_STRUCT(TurnFilter, (), (limit, before, role, since))
constexpr auto rules(Tag<TurnFilter>) {
  return std::tuple{RuleFor<&TurnFilter::limit>{{.about = "50 when omitted"}},
                    RuleFor<&TurnFilter::before>{{.about = "a turn of the thread: those older than it"}},
                    RuleFor<&TurnFilter::since>{{.about = "created after"}}};
}
const Description& describe(Tag<TurnFilter>) { return description_of<TurnFilter>("TurnFilter"); }

BOOST_DESCRIBE_STRUCT(NewTurn, (), (content, role, metadata))
const Description& describe(Tag<NewTurn>) { return description_of<NewTurn>("NewTurn"); }

BOOST_DESCRIBE_STRUCT(ForkPoint, (), (turnId))
constexpr auto rules(Tag<ForkPoint>) {
  return std::tuple{RuleFor<&ForkPoint::turnId>{{.about = "the last turn to copy; all when omitted"}}};
}
const Description& describe(Tag<ForkPoint>) { return description_of<ForkPoint>("ForkPoint"); }

BOOST_DESCRIBE_STRUCT(TurnSearch, (), (q, agent_id, limit, thread_id))
constexpr auto rules(Tag<TurnSearch>) {
  return std::tuple{RuleFor<&TurnSearch::q>{{.about = "words, \"phrases\", prefix*, AND, OR, NOT, parentheses"}},
                    RuleFor<&TurnSearch::limit>{{.about = "20 when omitted"}}};
}
const Description& describe(Tag<TurnSearch>) { return description_of<TurnSearch>("TurnSearch"); }

BOOST_DESCRIBE_STRUCT(ActivityRow, (), (turn_id, thread_id, thread_title, role, snippet, created_at))
constexpr auto rules(Tag<ActivityRow>) {
  return std::tuple{RuleFor<&ActivityRow::snippet>{{.about = "the first 150 characters of its content"}}};
}
const Description& describe(Tag<ActivityRow>) { return description_of<ActivityRow>("ActivityRow"); }

}  // namespace agw
