#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"

namespace agw::cli {

/// A model that can be chosen. There may be thousands, so only these members are kept.
struct ListedModel {
  std::string id;
  std::int64_t window = 0;  ///< tokens; 0 if unknown
};

/// The choices that a person has in a session, as listed by the gateway.
struct SessionLists {
  json::array modes;  ///< `GET /modes`
  std::vector<ListedModel> models;
  json::array agents;    ///< `GET /extensions?type=agent`
  json::array commands;  ///< `GET /extensions?type=command`
  std::string default_model;
};

/// The current choices.
struct SessionChoices {
  std::string mode;
  std::string model;               ///< empty: the agent's model, or the default
  std::string agent;               ///< an id
  bool may_lend_terminal = false;  ///< the client has terminals
  bool lends_terminal = false;     ///< commands run in the client's terminals
};

/// The values of the option `terminal`.
inline constexpr auto gateway_terminal = "gateway";
inline constexpr auto editor_terminal = "editor";

/// The value of the option `model` for the agent's own model.
inline constexpr auto own_model = "default";

/// `modes` of a session: the current one and all available ones.
json::object modes_of(const SessionLists& lists, const SessionChoices& choices);

/// `configOptions` of a session: `mode`, `model`, `agent`, and `terminal` if the client has terminals.
json::array config_options(const SessionLists& lists, const SessionChoices& choices);

/// `availableCommands`: the enabled commands, with a hint if they take arguments.
json::array available_commands(const SessionLists& lists);

/// The id of the enabled agent with this name or id; empty if there is none.
std::string agent_id(const json::array& agents, const std::string& name);

/// The models in a response to `GET /models`.
std::vector<ListedModel> listed_models(const json::array& models);

/// The model with this id, or null.
const ListedModel* find_model(const std::vector<ListedModel>& models, std::string_view id);

/// Whether a record in the list has this value as that member.
bool has_record(const json::array& list, std::string_view member, const std::string& value);

}  // namespace agw::cli
