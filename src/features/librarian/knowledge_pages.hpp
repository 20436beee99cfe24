#pragma once

#include <functional>
#include <string>
#include <vector>

#include "features/knowledge/service.hpp"
#include "features/librarian/types.hpp"

namespace agw {

/// The knowledge pages as a source: those that all agents share and the agent's own.
class KnowledgePages : public LibrarySource {
public:
  using Search = std::function<Task<std::vector<KnowledgeHit>>(AgentKnowledgeSearch wanted)>;
  using AgentName = std::function<std::string(std::string_view id)>;

  /// `Knowledge::search_for_agent`, and the name of the agent with an id, empty for none.
  KnowledgePages(Search search, AgentName agent_name)
      : search_(std::move(search)), agent_name_(std::move(agent_name)) {}

  std::string name() const override { return "the knowledge pages"; }
  Task<std::vector<Passage>> find(LibraryQuestion question) override;

private:
  Search search_;
  AgentName agent_name_;
};

}  // namespace agw
