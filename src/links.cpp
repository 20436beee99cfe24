#include "links.hpp"

#include <functional>

#include "base/is_within.hpp"
#include "base/json_member.hpp"
#include "features/librarian/knowledge_pages.hpp"
#include "features/librarian/past_turns.hpp"
#include "server/idempotency_store.hpp"

namespace agw {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): links live as long as the gateway

ThreadLinks thread_links(const Extensions& extensions, const Projects& projects, const Runs& runs, Engine& engine,
                         Jobs& jobs) {
  return {
      .agent = [&](std::string_view id_or_name) -> std::optional<ThreadLinks::Agent> {
        const auto agent = extensions.find_agent(id_or_name);
        if (!agent) return std::nullopt;
        const auto mode = string_member(agent->definition.members(), "mode");
        return ThreadLinks::Agent{agent->id, mode ? from_text<ThreadMode>(*mode) : std::nullopt};
      },
      .job_id = [&](std::string_view id_or_name) -> std::optional<std::string> {
        const auto job = extensions.find(ExtensionType::job, id_or_name);
        return job ? std::optional(job->id) : std::nullopt;
      },
      .project_exists = [&](std::string_view id) { return projects.find(id) != nullptr; },
      .thread_in_use = [&](std::string_view id) { return runs.thread_in_use(id); },
      .turn_in_use = [&](std::string_view id) { return runs.turn_in_use(id); },
      .drop_waiting = [&](std::string id) { return engine.drop_waiting(std::move(id)); },
      .active_run = [&](std::string_view id) { return runs.active_run(id); },
      .created = [&](const Thread& thread) { jobs.tell_record("thread.created", thread); },
  };
}

ProposalLinks proposal_links(const Projects& projects) {
  return {.projects =
              [&] {
                std::vector<std::filesystem::path> paths;
                for (const auto& project : projects.list()) paths.emplace_back(project->path);
                return paths;
              },
          .forget = [](Connection& connection,
                       const ProposalDecided& decided) { idempotency_store::forget(connection, to_json(decided)); }};
}

ResearchLinks research_links(const Projects& projects) {
  return {.project_of = [&](const std::filesystem::path& file) -> std::optional<ResearchProject> {
    for (const auto& project : projects.list()) {
      if (is_within(file, project->path)) return ResearchProject{project->id, project->path};
    }
    return std::nullopt;
  }};
}

PromptLinks prompt_links(const Projects& projects, Skills& skills) {
  return {
      .project = [&](std::string_view id) -> std::optional<PromptProject> {
        const auto project = projects.find(id);
        if (!project) return std::nullopt;
        return PromptProject{project->name, project->path, project->trusted};
      },
      .skills = [&](ExtensionPointer agent, std::optional<PromptProject> project) -> Task<std::vector<PromptSkill>> {
        const auto trusted = project && project->trusted ? std::optional(project->path) : std::nullopt;
        std::vector<PromptSkill> told;
        for (auto& skill : co_await skills.of(std::move(agent), trusted)) {
          told.push_back({std::move(skill.name), std::move(skill.description)});
        }
        co_return told;
      }};
}

ActionLinks action_links(Integrations& integrations, Shell& shell) {
  return {.call_integration =
              [&](const ToolCall& call, std::string integration, std::string tool) {
                return integrations.call(call, std::move(integration), std::move(tool));
              },
          .run_command =
              [&](const ToolCall& call, std::string command, std::map<std::string, std::string> environment,
                  std::string input) {
                return shell.run(call, {.command = std::move(command),
                                        .time = Shell::longest_time,
                                        .environment = std::move(environment),
                                        .input = std::move(input)});
              }};
}

BriefingLinks briefing_links(Proposals& proposals, Costs& costs, OwnTexts& own_texts) {
  return {.proposals = [&]() -> Task<std::vector<BriefingEntry>> {
            std::vector<BriefingEntry> entries;
            for (const auto& found : co_await proposals.pending()) {
              entries.push_back(
                  {ProposalAddress{found.agent, found.date, found.name}.text(), found.title, found.created_at});
            }
            co_return entries;
          },
          .cost_today = [&]() -> Task<double> { co_return (co_await costs.report(CostPeriod::today)).today; },
          .write = std::bind_front(&OwnTexts::write, &own_texts)};
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

std::unique_ptr<Librarian> make_librarian(Knowledge& knowledge, const Extensions& extensions, Threads& threads) {
  std::vector<std::unique_ptr<LibrarySource>> sources;
  sources.push_back(std::make_unique<KnowledgePages>(
      [&](AgentKnowledgeSearch wanted) { return knowledge.search_for_agent(std::move(wanted)); },
      [&](std::string_view id) {
        const auto agent = extensions.find_agent(id);
        return agent ? agent->name : std::string();
      }));
  sources.push_back(std::make_unique<PastTurns>([&](TurnSearch wanted) { return threads.search(std::move(wanted)); },
                                                [&](std::string id) { return threads.require(std::move(id)); }));
  return std::make_unique<Librarian>(std::move(sources));
}

}  // namespace agw
