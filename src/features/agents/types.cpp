#include "features/agents/types.hpp"

#include <array>

#include "base/json/describe.hpp"

namespace agw {

std::span<const EnumName> names(Tag<Stage>) {
  // Written out, because `operator` is a keyword.
  static constexpr std::array table{EnumName{"apprentice", static_cast<int>(Stage::apprentice)},
                                    EnumName{"operator", static_cast<int>(Stage::operating)},
                                    EnumName{"trusted", static_cast<int>(Stage::trusted)},
                                    EnumName{"sovereign", static_cast<int>(Stage::sovereign)}};
  return table;
}

BOOST_DESCRIBE_STRUCT(IdentityText, (), (content))
constexpr auto rules(Tag<IdentityText>) {
  return std::tuple{RuleFor<&IdentityText::content>{{.about = "what the file holds; empty without one"}}};
}
const Description& describe(Tag<IdentityText>) { return description_of<IdentityText>("IdentityText"); }

BOOST_DESCRIBE_STRUCT(NewIdentityText, (), (content))
constexpr auto rules(Tag<NewIdentityText>) {
  constexpr std::string_view wrong = "content must be a string";
  return std::tuple{RuleFor<&NewIdentityText::content>{
      {.about = "what the file is to hold, at most 102,400 bytes", .missing = wrong, .wrong_type = wrong}}};
}
const Description& describe(Tag<NewIdentityText>) { return description_of<NewIdentityText>("NewIdentityText"); }

BOOST_DESCRIBE_STRUCT(IdentityWritten, (), (status))
const Description& describe(Tag<IdentityWritten>) { return description_of<IdentityWritten>("IdentityWritten"); }

BOOST_DESCRIBE_STRUCT(StageStep, (), (from, to, reason, at))
const Description& describe(Tag<StageStep>) { return description_of<StageStep>("StageStep"); }

BOOST_DESCRIBE_STRUCT(AgentStage, (), (agent, stage, reason, updated_at, history))
constexpr auto rules(Tag<AgentStage>) {
  return std::tuple{RuleFor<&AgentStage::agent>{{.about = "the agent's name"}},
                    RuleFor<&AgentStage::reason>{{.about = "of the latest change"}},
                    RuleFor<&AgentStage::updated_at>{{.about = "when that was; null before the first change"}},
                    RuleFor<&AgentStage::history>{{.about = "every change, in order"}}};
}
const Description& describe(Tag<AgentStage>) { return description_of<AgentStage>("AgentStage"); }

BOOST_DESCRIBE_STRUCT(ChangedAgentStage, (AgentStage), (status))
const Description& describe(Tag<ChangedAgentStage>) { return description_of<ChangedAgentStage>("ChangedAgentStage"); }

BOOST_DESCRIBE_STRUCT(StageChange, (), (stage, reason))
constexpr auto rules(Tag<StageChange>) {
  return std::tuple{
      RuleFor<&StageChange::stage>{{.about = "how far the agent is trusted", .invalid = "unknown stage: "}},
      RuleFor<&StageChange::reason>{{.about = "why, for the history"}}};
}
const Description& describe(Tag<StageChange>) { return description_of<StageChange>("StageChange"); }

}  // namespace agw
