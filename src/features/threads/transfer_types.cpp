#include "features/threads/transfer_types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(TranscriptThread, (Thread), (tasks))
constexpr auto rules(Tag<TranscriptThread>) {
  return std::tuple{RuleFor<&TranscriptThread::tasks>{
                        {.about = "the list of its agent; omitted if it never kept one", .omit_null = true}},
                    pinned_rule};
}
const Description& describe(Tag<TranscriptThread>) { return description_of<TranscriptThread>("TranscriptThread"); }

BOOST_DESCRIBE_STRUCT(Transcript, (), (thread, turns, next))
constexpr auto rules(Tag<Transcript>) {
  return std::tuple{RuleFor<&Transcript::next>{{.about = "the next page's after; null after the last turn"}}};
}
const Description& describe(Tag<Transcript>) { return description_of<Transcript>("Transcript"); }

BOOST_DESCRIBE_STRUCT(TranscriptQuery, (), (after, limit, shared))
constexpr auto rules(Tag<TranscriptQuery>) {
  return std::tuple{RuleFor<&TranscriptQuery::after>{{.about = "a turn of the thread: those newer than it"}},
                    RuleFor<&TranscriptQuery::limit>{{.about = "500 when omitted; fewer if they are large"}},
                    RuleFor<&TranscriptQuery::shared>{
                        {.about = "true leaves out what tools got and gave, reasoning and the values of secrets",
                         .has_default = true}}};
}
const Description& describe(Tag<TranscriptQuery>) { return description_of<TranscriptQuery>("TranscriptQuery"); }

BOOST_DESCRIBE_STRUCT(ImportedTurn, (), (key, role, content, metadata, created_at, in_reply_to))
constexpr auto rules(Tag<ImportedTurn>) {
  return std::tuple{RuleFor<&ImportedTurn::key>{{.about = "identifies it within its thread"}},
                    RuleFor<&ImportedTurn::created_at>{{.about = "that of the turn before it when omitted"}},
                    RuleFor<&ImportedTurn::in_reply_to>{{.about = "the key of the user turn that it answers"}}};
}
const Description& describe(Tag<ImportedTurn>) { return description_of<ImportedTurn>("ImportedTurn"); }

BOOST_DESCRIBE_STRUCT(ImportedThread, (),
                      (key, agent_id, title, project_id, job_id, mode, archived, pinned, created_at, updated_at, tasks,
                       turns))
constexpr auto rules(Tag<ImportedThread>) {
  return std::tuple{RuleFor<&ImportedThread::key>{{.about = "identifies it within its source"}},
                    RuleFor<&ImportedThread::agent_id>{{.about = "an agent's id or name; assistant when omitted"}},
                    RuleFor<&ImportedThread::title>{{.about = "made from the first user turn when omitted"}},
                    RuleFor<&ImportedThread::job_id>{{.about = "a job's id or name; dropped if there is none"}},
                    RuleFor<&ImportedThread::archived>{{.about = "false when omitted", .has_default = true}},
                    RuleFor<&ImportedThread::pinned>{{.about = "false when omitted", .has_default = true}},
                    RuleFor<&ImportedThread::tasks>{{.about = "the list of its agent, for a new thread"}}};
}
const Description& describe(Tag<ImportedThread>) { return description_of<ImportedThread>("ImportedThread"); }

BOOST_DESCRIBE_STRUCT(ImportBatch, (), (source, threads))
constexpr auto rules(Tag<ImportBatch>) {
  return std::tuple{RuleFor<&ImportBatch::source>{{.about = "the program that the threads come from"}}};
}
const Description& describe(Tag<ImportBatch>) { return description_of<ImportBatch>("ImportBatch"); }

BOOST_DESCRIBE_STRUCT(ImportOutcome, (), (key, id, created, turns_created, turns_kept))
constexpr auto rules(Tag<ImportOutcome>) {
  return std::tuple{RuleFor<&ImportOutcome::turns_kept>{{.about = "were there already"}}};
}
const Description& describe(Tag<ImportOutcome>) { return description_of<ImportOutcome>("ImportOutcome"); }

BOOST_DESCRIBE_STRUCT(ImportResult, (), (threads))
const Description& describe(Tag<ImportResult>) { return description_of<ImportResult>("ImportResult"); }

}  // namespace agw
