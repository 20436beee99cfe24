#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "features/extensions/service.hpp"
#include "features/skills/service.hpp"
#include "models/catalog.hpp"
#include "tools/tool_set.hpp"

namespace agw {

/// Looks the names of definitions up among everything that is installed at that moment.
class UnknownNames : public NameCheck {
public:
  UnknownNames(const Extensions& extensions, const ToolSet& tools, const Models& models, Skills& skills)
      : extensions_(extensions), tools_(tools), models_(models), skills_(skills) {}

  /// Skills of projects are not known here: an agent may name one that a project has.
  Task<std::vector<ExtensionWarning>> unknown_names(ExtensionPointer extension) const override;

private:
  struct Findings;
  /// What is wrong with a name; empty: nothing.
  using ProblemOf = std::function<std::string(std::string_view name)>;

  ProblemOf tool_problems() const;
  ProblemOf model_problems() const;
  ProblemOf agent_problems() const;
  ProblemOf capability_problems() const;
  Task<> check_agent(Findings& found, ExtensionPointer agent) const;
  void check_other(Findings& found, ExtensionType type) const;

  const Extensions& extensions_;
  const ToolSet& tools_;
  const Models& models_;
  Skills& skills_;
};

}  // namespace agw
