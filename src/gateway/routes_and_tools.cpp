#include <iterator>
#include <utility>

#include "base/containers.hpp"
#include "config/environment.hpp"
#include "gateway/gateway.hpp"
#include "server/documents/page_routes.hpp"
#include "tools/files/file_tools.hpp"
#include "tools/search/grep.hpp"
#include "tools/web/web_fetch.hpp"
#include "tools/web/web_search.hpp"

namespace agw {

Routes Gateway::all_routes() {
  Routes table;
  append(table, daemon_routes(daemon_));
  append(table, readiness_routes(readiness_));
  append(table, pairing_routes(access_));
  append(table, secret_routes(secrets_, blocking_));
  append(table, filesystem_routes(filesystem_));
  append(table, project_routes(projects_));
  append(table, project_file_routes(project_files_));
  append(table, signal_routes(signals_));
  append(table, attachment_routes(attachments_));
  append(table, extension_routes(extensions_, unknown_names_));
  append(table, agent_routes(identities_, stages_));
  append(table, extension_file_routes(extensions_, extension_files_));
  append(table, skill_routes(skills_, stages_));
  append(table, model_service_routes(model_services_));
  append(table, thread_routes(threads_, secrets_, blocking_));
  append(table, cost_routes(costs_));
  append(table, knowledge_routes(knowledge_));
  append(table, experiment_routes(experiments_));
  append(table, proposal_routes(proposals_));
  append(table, approval_routes(approvals_, stages_));
  append(table, checkpoint_routes(checkpoints_, threads_));
  append(table, chat_routes(engine_, client_tools_, threads_, runs_, stages_));
  append(table, client_api_routes(client_api_));
  append(table, job_routes(jobs_, clock_));
  append(table, app_routes_.routes());
  append(table, terminal_routes(terminals_));
  append(table, browser_routes(browsers_));
  append(table, integration_routes(integrations_));
  append(table, research_routes(research_));
  append(table, briefing_routes(briefings_));
  append(table, push_routes(push_));
  append(table, shared_link_routes(shared_links_, threads_, page_fields()));
  append(table, channel_routes(channels_));
  append(table, configuration_routes(configuration_));
  append(table, mcp_.routes());
  append(table, document_routes_.routes());
  append(table, metrics_routes(metrics_));
  append(table, page_routes(filesystem_.blocking()));
  if (is_node_) refuse_new_runs(table, daemon_);
  return table;
}

void Gateway::add_tools(const Settings& settings) {
  tools_.add(file_tools(
      {.loop = loop_, .blocking = blocking_, .shell = shell_, .ripgrep = find_ripgrep(), .recorder = &checkpoints_}));
  tools_.add(search_turns_tool(threads_));
  tools_.add(tasks_tool(threads_));
  tools_.add(remember_tool(identities_));
  tools_.add(knowledge_tools(knowledge_, threads_, blocking_, tools_));
  tools_.add(web_fetch_tool(http_, blocking_,
                            {.allow_hosts = settings.tools.web_fetch_allow_hosts, .was_named = named_urls(threads_)}));
  tools_.add(web_search_tool(http_, web_search_service(settings.web_search, process_environment())));
  tools_.add_tools_of(actions_);
  tools_.add_tools_of(integrations_);
  tools_.add(extension_tools(extensions_));
  tools_.add(read_skill_tool(skills_, extensions_, projects_));
  tools_.add(ask_user_tool());
  tools_.add(delegate_tool(engine_));
  tools_.add(find_tools_tool());
  tools_.add(run_job_tool(jobs_));
  tools_.add([this] { return channels_.tools(); });
  tools_.add(propose_tool());
}

}  // namespace agw
