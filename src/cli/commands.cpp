#include "cli/commands.hpp"

#include <utility>

namespace agw::cli {

std::vector<Command> commands(std::function<int(const ServeOptions&)> serve) {
  return {
      {"serve", "Run the gateway in the foreground",
       [serve = std::move(serve)](Arguments& arguments) { return serve_command(arguments, serve); }},
      {"status", "Say whether the gateway runs, where, and since when", status_command},
      {"chat", "Talk to an agent", chat_command},
      {"threads", "List the threads, the latest first", threads_command},
      {"search", "Search the turns of an agent's threads", search_command},
      {"run", "Run a job now", run_command},
      {"jobs", "List the jobs, or the runs of one", jobs_command},
      {"ext", "Extensions: agents, jobs, commands, themes and all else that can be added", {}},
      {"ext list", "List them, the newest first", extension_list_command},
      {"ext show", "Print one", extension_show_command},
      {"ext add", "Add what a JSON or YAML file, or a folder, says", extension_add_command},
      {"ext edit", "Change one in $EDITOR", extension_edit_command},
      {"ext enable", "Let one take effect", extension_enable_command},
      {"ext disable", "Keep one from taking effect", extension_disable_command},
      {"ext rm", "Delete one", extension_remove_command},
      {"ext login", "Log an integration in at its service, in a browser", extension_login_command},
      {"ext logout", "Forget that login", extension_logout_command},
      {"logs", "Print what the gateway logged, or follow it", logs_command},
      {"doctor", "Check what commonly goes wrong, and say how to mend it", doctor_command},
      {"open", "Open the web page in a browser, paired", open_command},
      {"proposals", "List the changes that wait for your decision", proposals_command},
      {"proposals show", "Print one, and what it would change", proposal_show_command},
      {"proposals apply", "Make the change", proposal_apply_command},
      {"proposals reject", "Decide against it", proposal_reject_command},
      {"pair", "Show a code that pairs a new device", pair_command},
      {"token", "The token that opens the gateway's endpoints", {}},
      {"token show", "Print it", token_show_command},
      {"token rotate", "Replace it: every device must be paired again", token_rotate_command},
      {"secret", "Values that extensions use as ${secret:NAME}", {}},
      {"secret set", "Keep a value, read from stdin or asked for", secret_set_command},
      {"secret list", "List the names", secret_list_command},
      {"secret rm", "Forget one", secret_remove_command},
      {"backup", "Write all data into one archive, while the gateway runs too", backup_command},
      {"restore", "Put the data of such an archive in the place of what is there", restore_command},
      {"mcp", "Serve the gateway's tools to an MCP client on stdin and stdout", mcp_command},
      {"service", "Run the gateway by systemd", {}},
      {"service install", "Start it now, and at each login", service_install_command},
      {"service uninstall", "Stop it, and start it no more", service_uninstall_command},
      {"service status", "Say whether it is installed and runs", service_status_command},
      {"completion", "Print what lets a shell complete these commands", completion_command},
      {"man", "Print the manual page", manual_command},
  };
}

}  // namespace agw::cli
