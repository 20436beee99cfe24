#pragma once

#include <string>
#include <vector>

#include "features/extensions/service.hpp"
#include "features/knowledge/service.hpp"
#include "features/librarian/types.hpp"

namespace agw {

/// The knowledge pages as a source: the shared pages and the agent's own.
class KnowledgePages : public LibrarySource {
public:
  KnowledgePages(Knowledge& knowledge, const Extensions& extensions) : knowledge_(knowledge), extensions_(extensions) {}

  std::string name() const override { return "the knowledge pages"; }
  Task<std::vector<Passage>> find(LibraryQuestion question) override;

private:
  Knowledge& knowledge_;
  const Extensions& extensions_;
};

}  // namespace agw
