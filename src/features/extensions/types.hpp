#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/described.hpp"
#include "features/extensions/definition.hpp"
#include "features/extensions/triggers.hpp"

namespace agw {

/// The type of an extension, which determines its definition (share/schemas/<type>.json).
enum class ExtensionType {
  command,      ///< slash command of the chat
  agent,        ///< identity with system prompt and choice of model
  job,          ///< autonomous work, on a trigger or on demand
  app,          ///< project served with a development server
  theme,        ///< colours of the page
  renderer,     ///< how content of turns is shown
  integration,  ///< connection to an external service
  action,       ///< callable action that agents can call as a tool
  widget,       ///< embeddable piece of the page
  artifact,     ///< structured output of an agent
  capability,   ///< what an agent may do
  control,      ///< buttons, toggles, forms
};
std::span<const EnumName> names(Tag<ExtensionType>);

/// Who created an extension.
enum class Source {
  built_in,   ///< shipped with the gateway, not editable
  user,       ///< a person
  agent,      ///< an agent, while it ran
  community,  ///< installed from elsewhere
};
std::span<const EnumName> names(Tag<Source>);

/// A record that adds something to the gateway.
struct Extension {
  std::string id;
  ExtensionType type{};
  std::string name;  ///< kebab-case, unique over all types
  std::string description;
  Definition definition;                  ///< as it was sent, including unknown members
  std::optional<Definition> trigger_def;  ///< starts it automatically
  Source source{};
  bool enabled = false;
  std::optional<std::string> owner_agent_id;  ///< the agent that created it; only with Source::agent
  bool essential = false;                     ///< can be neither disabled nor deleted
  Timestamp created_at{};
  Timestamp updated_at{};  ///< grows with every change, so that it identifies the version
};
const Description& describe(Tag<Extension>);

/// Something in a definition that is valid, but will not work as it is.
struct ExtensionWarning {
  std::string path;  ///< `definition.tools[2]`
  std::string message;
};
const Description& describe(Tag<ExtensionWarning>);

/// The response to a POST or PATCH.
struct SavedExtension : Extension {
  std::vector<ExtensionWarning> warnings;
};
const Description& describe(Tag<SavedExtension>);

/// The `updated_at` of a change at `now`, always later than `before`, even within the same millisecond.
Timestamp version_after(Timestamp before, Timestamp now);

/// One version of a record. Immutable; each change creates a new one.
using ExtensionPointer = std::shared_ptr<const Extension>;

/// Filters a list of extensions: those that match all values given here.
struct ExtensionFilter {
  std::optional<ExtensionType> type;
  std::optional<bool> enabled;
  std::optional<Source> source;
  std::optional<std::string> owner_agent_id;  ///< an agent's id or name
};
const Description& describe(Tag<ExtensionFilter>);

/// The values of a new extension.
struct NewExtension {
  ExtensionType type{};
  std::string name;
  std::string description;
  Definition definition;
  std::optional<Definition> trigger_def;
  Source source = Source::user;
  bool enabled = false;
  std::optional<std::string> owner_agent_id;  ///< used with Source::agent only
};
const Description& describe(Tag<NewExtension>);

/// The values to change in an extension; members without a value stay unchanged.
struct ExtensionChange {
  std::optional<std::string> name;
  std::optional<std::string> description;
  std::optional<Definition> definition;  ///< replaces the whole definition
  Change<Definition> trigger;            ///< null removes it
  std::optional<bool> enabled;
  std::optional<Timestamp> if_updated_at;  ///< the version that the change is based on
};
const Description& describe(Tag<ExtensionChange>);

/// The query of `DELETE /extensions/:id`.
struct RemovalQuery {
  /// Deletes a model service even if agents or jobs use it. By default, because the specification deletes whatever is
  /// not essential.
  bool force = true;
};
const Description& describe(Tag<RemovalQuery>);

/// What happened to an extension, in `extension-changed` events.
enum class ExtensionAction { created, updated, deleted };
std::span<const EnumName> names(Tag<ExtensionAction>);

}  // namespace agw
