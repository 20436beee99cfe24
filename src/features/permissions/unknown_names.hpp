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

/// Checks that the names in definitions exist among what is currently installed.
class UnknownNames : public NameCheck {
public:
  UnknownNames(const Extensions& extensions, const ToolSet& tools, const Models& models, Skills& skills)
      : extensions_(extensions), tools_(tools), models_(models), skills_(skills) {}

  /// Does not warn about unknown skills, because a project may have them.
  Task<std::vector<ExtensionWarning>> unknown_names(ExtensionPointer extension) const override;

private:
  struct Findings;
  /// Returns what is wrong with a name; empty if it is valid.
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
