#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/time/time_zone.hpp"
#include "features/agents/service.hpp"
#include "features/context/types.hpp"
#include "features/extensions/types.hpp"
#include "features/projects/service.hpp"
#include "features/skills/service.hpp"
#include "features/threads/types.hpp"
#include "io/process/blocking.hpp"
#include "models/model.hpp"
#include "tools/place.hpp"

namespace agw {

/// The AGENTS.md file that applies to the working directory.
struct ProjectInstructions {
  std::filesystem::path file;
  std::string text;
  bool trusted = false;
};

/// Everything that a system prompt is composed of.
struct PromptInput {
  AgentIdentity identity;
  std::string system_prompt;  ///< the agent's own
  ThreadMode mode{};
  std::vector<Skill> skills;
  bool may_load_skills = true;  ///< the model is offered ReadSkill
  std::string more_tools;       ///< the list of deferred tools; empty: there are none
  std::optional<ProjectInstructions> instructions;
  std::string today;  ///< `2026-01-02`
  std::filesystem::path working_directory;
};

/// `text` on one line, without markup that could end a list in the prompt.
std::string prompt_line(std::string_view text);

/// The prompt's non-empty parts in order. Parts that rarely change come first, for the providers' caches.
std::vector<PromptSection> prompt_sections(const PromptInput& input);
/// The sections as one text, as sent to the model.
std::string prompt_text(const std::vector<PromptSection>& sections);

/// An estimate of the number of tokens, biased upwards.
std::int64_t estimated_tokens(std::string_view text);
std::int64_t estimated_tokens(const ToolDescription& tool);

/// Composes system prompts from the current files and records.
/// Example: src/features/context/prompt_test.cpp: Prompts.UseTheNearestInstructions
class Prompts {
public:
  Prompts(BlockingPool& blocking, std::filesystem::path home, std::filesystem::path data_directory, const Clock& clock,
          Projects& projects, Identities& identities, Skills& skills);

  /// The prompt mentions only tools that the agent is offered: see PromptInput for `may_load_skills` and `more_tools`.
  Task<std::vector<PromptSection>> sections(ExtensionPointer agent, std::optional<std::string> project_id,
                                            ThreadMode mode, bool may_load_skills, std::string more_tools);
  Task<std::string> text(ExtensionPointer agent, std::optional<std::string> project_id, ThreadMode mode,
                         bool may_load_skills, std::string more_tools);

  /// The directories that the agent's tools may use.
  FileRoots roots(const Extension& agent, const std::optional<std::string>& project_id) const;

private:
  BlockingPool& blocking_;
  std::filesystem::path home_;
  std::filesystem::path data_directory_;
  const Clock& clock_;
  Projects& projects_;
  Identities& identities_;
  Skills& skills_;
};

}  // namespace agw
