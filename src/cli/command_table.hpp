#pragma once

#include <functional>
#include <vector>

#include "cli/command.hpp"
#include "serve.hpp"

namespace agw::cli {

/// The table of all commands. A new command is a file with its `declare` and a row here. `serve` runs the gateway and
/// returns its exit status; a parameter keeps the command line independent of the gateway.
std::vector<Command> commands(std::function<int(const ServeOptions&)> serve);

Action serve_command(Arguments& arguments, std::function<int(const ServeOptions&)> serve);
Action status_command(Arguments& arguments);
Action chat_command(Arguments& arguments);
Action threads_command(Arguments& arguments);
Action search_command(Arguments& arguments);
Action run_command(Arguments& arguments);
Action jobs_command(Arguments& arguments);
Action extension_list_command(Arguments& arguments);
Action extension_show_command(Arguments& arguments);
Action extension_add_command(Arguments& arguments);
Action extension_edit_command(Arguments& arguments);
Action extension_enable_command(Arguments& arguments);
Action extension_disable_command(Arguments& arguments);
Action extension_remove_command(Arguments& arguments);
Action extension_login_command(Arguments& arguments);
Action extension_logout_command(Arguments& arguments);
Action logs_command(Arguments& arguments);
Action doctor_command(Arguments& arguments);
Action open_command(Arguments& arguments);
Action cluster_init_command(Arguments& arguments);
Action cluster_leave_command(Arguments& arguments);
Action cluster_status_command(Arguments& arguments);
Action backup_command(Arguments& arguments);
Action restore_command(Arguments& arguments);
Action import_command(Arguments& arguments);
Action export_command(Arguments& arguments);
Action mcp_command(Arguments& arguments);
Action acp_command(Arguments& arguments);
Action service_install_command(Arguments& arguments);
Action service_uninstall_command(Arguments& arguments);
Action service_status_command(Arguments& arguments);
Action completion_command(Arguments& arguments);
Action manual_command(Arguments& arguments);
Action changes_command(Arguments& arguments);
Action undo_command(Arguments& arguments);
Action proposals_command(Arguments& arguments);
Action proposal_show_command(Arguments& arguments);
Action proposal_apply_command(Arguments& arguments);
Action proposal_reject_command(Arguments& arguments);
Action permission_list_command(Arguments& arguments);
Action permission_show_command(Arguments& arguments);
Action permission_allow_command(Arguments& arguments);
Action permission_deny_command(Arguments& arguments);
Action permission_propose_command(Arguments& arguments);
Action permission_answer_command(Arguments& arguments);
Action permission_grants_command(Arguments& arguments);
Action permission_revoke_command(Arguments& arguments);
Action pair_command(Arguments& arguments);
Action token_show_command(Arguments& arguments);
Action token_rotate_command(Arguments& arguments);
Action model_add_command(Arguments& arguments);
Action model_list_command(Arguments& arguments);
Action model_check_command(Arguments& arguments);
Action model_default_command(Arguments& arguments);
Action model_remove_command(Arguments& arguments);
Action secret_set_command(Arguments& arguments);
Action secret_list_command(Arguments& arguments);
Action secret_remove_command(Arguments& arguments);

}  // namespace agw::cli
