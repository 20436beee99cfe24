#include "cli/command_table.hpp"

#include <utility>

namespace agw::cli {

std::vector<Command> commands(std::function<int(const ServeOptions&)> serve) {
  return {
      {"serve", "Run the gateway in the foreground",
       [serve = std::move(serve)](Arguments& arguments) { return serve_command(arguments, serve); }},
      {"status", "Show whether the gateway runs, where, and since when", status_command},
      {"chat", "Talk to an agent", chat_command},
      {"threads", "List the threads, the latest change first", threads_command},
      {"search", "Search the turns of an agent's threads", search_command},
      {"run", "Run a job now", run_command},
      {"jobs", "List the jobs, or the runs of a job", jobs_command},
      {"ext", "Manage extensions: agents, jobs, commands, themes and others", {}},
      {"ext list", "List the extensions, the newest first", extension_list_command},
      {"ext show", "Print an extension", extension_show_command},
      {"ext add", "Add an extension from a JSON or YAML file, or a folder", extension_add_command},
      {"ext edit", "Edit an extension in $EDITOR", extension_edit_command},
      {"ext enable", "Enable an extension", extension_enable_command},
      {"ext disable", "Disable an extension", extension_disable_command},
      {"ext rm", "Delete an extension", extension_remove_command},
      {"ext login", "Log in to the service of an integration, in a browser", extension_login_command},
      {"ext logout", "Delete the login of an integration", extension_logout_command},
      {"logs", "Print the gateway's log, or follow it", logs_command},
      {"doctor", "Check for common problems, and show how to fix them", doctor_command},
      {"open", "Open the web page in a browser, paired", open_command},
      {"proposals", "List the changes that wait for your decision", proposals_command},
      {"proposals show", "Print a proposal and its change", proposal_show_command},
      {"proposals apply", "Apply a proposal", proposal_apply_command},
      {"proposals reject", "Reject a proposal", proposal_reject_command},
      {"pair", "Show a code that pairs a new device", pair_command},
      {"token", "Manage the token that protects the gateway's endpoints", {}},
      {"token show", "Print the token", token_show_command},
      {"token rotate", "Replace the token: every device must be paired again", token_rotate_command},
      {"model", "Manage the model services that chats use", {}},
      {"model add", "Connect a model service; its key is read from stdin or a prompt", model_add_command},
      {"model list", "List the models of all services", model_list_command},
      {"model check", "Ask a model service for its models", model_check_command},
      {"model default", "Show or choose the model of chats that name none", model_default_command},
      {"model rm", "Delete a model service", model_remove_command},
      {"secret", "Manage values that extensions use as ${secret:NAME}", {}},
      {"secret set", "Store a secret, read from stdin or a prompt", secret_set_command},
      {"secret list", "List the names of the secrets", secret_list_command},
      {"secret rm", "Delete a secret", secret_remove_command},
      {"backup", "Write all data to one archive, even while the gateway runs", backup_command},
      {"restore", "Replace all data with that of a backup archive", restore_command},
      {"mcp", "Serve the gateway's tools to an MCP client on stdin and stdout", mcp_command},
      {"service", "Run the gateway as a systemd user service", {}},
      {"service install", "Start the gateway now and at each login", service_install_command},
      {"service uninstall", "Stop the gateway, and do not start it again", service_uninstall_command},
      {"service status", "Show whether the service is installed and running", service_status_command},
      {"completion", "Print the completion script of a shell", completion_command},
      {"man", "Print the manual page", manual_command},
  };
}

}  // namespace agw::cli
