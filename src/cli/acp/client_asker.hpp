#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "base/json/json.hpp"
#include "cli/acp/event_updates.hpp"
#include "cli/acp/rpc_peer.hpp"
#include "cli/client/asker.hpp"

namespace agw::cli {

/// The capabilities that a client declared in `initialize`.
struct ClientAbilities {
  bool elicits = false;       ///< `elicitation.form`
  bool notices = false;       ///< `session.notices`
  bool compaction = false;    ///< `session.compaction`
  bool reads_files = false;   ///< `fs.readTextFile`
  bool writes_files = false;  ///< `fs.writeTextFile`
  bool has_terminal = false;  ///< `terminal`
};
/// Parses them from `clientCapabilities`.
ClientAbilities client_abilities(const json::object& capabilities);

/// Asks the person at an ACP client: about permissions with `session/request_permission`, questions with
/// `elicitation/create`.
class ClientAsker : public Asker {
public:
  /// The references must outlive this object. Relative paths in tools' inputs start from `directory`.
  ClientAsker(RpcPeer& peer, const EventUpdates& updates, std::string session_id, std::filesystem::path directory,
              ClientAbilities abilities)
      : peer_(peer),
        updates_(updates),
        session_id_(std::move(session_id)),
        directory_(std::move(directory)),
        abilities_(abilities) {}

  Task<std::optional<json::object>> ask(json::object request, StopSource& over) override;
  void show_decision(const json::object&) override {}

  /// Asks whether agents may follow the instructions in the session's folder.
  Task<bool> ask_for_trust(std::string folder, StopSource& over);

  /// Whether the person allows a call that runs with the person's own rights. `kind` identifies the calls covered by an
  /// answer for the session; `about` is shown with the call. False if the client cannot ask.
  Task<bool> allows(json::object tool_call, std::string kind, std::string about, StopSource& over);

private:
  Task<std::optional<json::object>> ask_permission(json::object request, StopSource& over);
  Task<std::optional<json::object>> ask_question(json::object request, StopSource& over);
  Task<std::optional<json::object>> ask_by_options(json::object request, StopSource& over);
  json::object tool_call(const json::object& request) const;
  Task<std::string> chosen(json::object tool_call, json::array options, StopSource& over);

  RpcPeer& peer_;
  const EventUpdates& updates_;
  const std::string session_id_;
  const std::filesystem::path directory_;
  const ClientAbilities abilities_;
  std::set<std::string> rejected_;  ///< kinds that the person always rejects in this session
  std::set<std::string> allowed_;   ///< kinds in `allows` that the person always allows in this session
};

}  // namespace agw::cli
