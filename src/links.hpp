#pragma once

#include <memory>

#include "features/actions/service.hpp"
#include "features/briefings/service.hpp"
#include "features/costs/own_texts.hpp"
#include "features/costs/service.hpp"
#include "features/engine/prompt.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/service.hpp"
#include "features/jobs/service.hpp"
#include "features/knowledge/service.hpp"
#include "features/librarian/service.hpp"
#include "features/mcp/service.hpp"
#include "features/projects/service.hpp"
#include "features/proposals/service.hpp"
#include "features/research/service.hpp"
#include "features/runs/service.hpp"
#include "features/skills/service.hpp"
#include "features/threads/service.hpp"
#include "tools/shell.hpp"

namespace agw {

// What a feature asks of ones that it does not know, most of which are built upon it. Each keeps references to what it
// is given, which need not be made yet, and lives as long as the gateway.

ThreadLinks thread_links(const Extensions& extensions, const Projects& projects, const Runs& runs, Engine& engine,
                         Jobs& jobs);
ProposalLinks proposal_links(const Projects& projects);
PromptLinks prompt_links(const Projects& projects, Skills& skills);
ActionLinks action_links(Integrations& integrations, Shell& shell);
ResearchLinks research_links(const Projects& projects);
BriefingLinks briefing_links(Proposals& proposals, Costs& costs, OwnTexts& own_texts);

/// The model without a model, over pages of knowledge and past turns.
std::unique_ptr<Librarian> make_librarian(Knowledge& knowledge, const Extensions& extensions, Threads& threads);

}  // namespace agw
