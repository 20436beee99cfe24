#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time_zone.hpp"
#include "features/agents/service.hpp"
#include "features/engine/types.hpp"
#include "features/extensions/types.hpp"
#include "features/threads/types.hpp"
#include "io/blocking.hpp"
#include "models/model.hpp"
#include "tools/place.hpp"

namespace agw {

/// The project of a thread, as far as a prompt is concerned.
struct PromptProject {
  std::string name;
  std::filesystem::path path;  ///< absolute, resolved
  bool trusted = false;
};

/// A skill that the model may load.
struct PromptSkill {
  std::string name;
  std::string description;
};

/// The AGENTS.md that holds where the agent works.
struct ProjectInstructions {
  std::filesystem::path file;
  std::string text;
  bool trusted = false;
};

/// Everything that an agent is told before the conversation.
struct PromptInput {
  AgentIdentity identity;
  std::string system_prompt;  ///< the agent's own
  ThreadMode mode{};
  std::vector<PromptSkill> skills;
  std::optional<ProjectInstructions> instructions;
  std::string today;  ///< `2026-01-02`
  std::filesystem::path working_directory;
};

/// The prompt's parts in order, without empty ones: what seldom changes comes first, so that providers' caches hit.
std::vector<PromptSection> prompt_sections(const PromptInput& input);
/// What is sent.
std::string prompt_text(const std::vector<PromptSection>& sections);

/// How many tokens a text is likely to have; rather too many than too few.
std::int64_t estimated_tokens(std::string_view text);
std::int64_t estimated_tokens(const ToolDescription& tool);

/// What the prompt needs of rooms that this one cannot see. Both are asked on the loop.
struct PromptLinks {
  std::function<std::optional<PromptProject>(std::string_view project_id)> project;
  std::function<Task<std::vector<PromptSkill>>(ExtensionPointer agent, std::optional<PromptProject> project)> skills;
};

/// Puts prompts together, from files and records as they are at that moment.
class Prompts {
public:
  Prompts(BlockingPool& blocking, std::filesystem::path home, std::filesystem::path data_directory, const Clock& clock,
          Identities& identities, PromptLinks links);

  Task<std::vector<PromptSection>> sections(ExtensionPointer agent, std::optional<std::string> project_id,
                                            ThreadMode mode);
  Task<std::string> text(ExtensionPointer agent, std::optional<std::string> project_id, ThreadMode mode);

  /// The directories that the agent works in.
  FileRoots roots(const Extension& agent, const std::optional<std::string>& project_id) const;

private:
  BlockingPool& blocking_;
  std::filesystem::path home_;
  std::filesystem::path data_directory_;
  const Clock& clock_;
  Identities& identities_;
  PromptLinks links_;
};

}  // namespace agw
