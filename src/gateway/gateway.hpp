#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <vector>

#include "api/route.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "base/time/time.hpp"
#include "features/access/service.hpp"
#include "features/actions/service.hpp"
#include "features/agents/service.hpp"
#include "features/approvals/service.hpp"
#include "features/apps/routes.hpp"
#include "features/apps/service.hpp"
#include "features/attachments/service.hpp"
#include "features/briefings/service.hpp"
#include "features/browsers/service.hpp"
#include "features/channels/service.hpp"
#include "features/checkpoints/service.hpp"
#include "features/client_api/service.hpp"
#include "features/client_tools/service.hpp"
#include "features/cluster/readiness.hpp"
#include "features/cluster/service.hpp"
#include "features/configuration/service.hpp"
#include "features/context/prompt.hpp"
#include "features/context/thread_retention.hpp"
#include "features/costs/background_completions.hpp"
#include "features/costs/service.hpp"
#include "features/daemon/service.hpp"
#include "features/engine/service.hpp"
#include "features/events/hub.hpp"
#include "features/experiments/service.hpp"
#include "features/extensions/files.hpp"
#include "features/extensions/outbox.hpp"
#include "features/extensions/service.hpp"
#include "features/filesystem/service.hpp"
#include "features/integrations/service.hpp"
#include "features/jobs/service.hpp"
#include "features/knowledge/service.hpp"
#include "features/model_services/service.hpp"
#include "features/permissions/unknown_names.hpp"
#include "features/placements/service.hpp"
#include "features/projects/files.hpp"
#include "features/projects/service.hpp"
#include "features/proposals/service.hpp"
#include "features/push/service.hpp"
#include "features/research/service.hpp"
#include "features/runs/service.hpp"
#include "features/secrets/service.hpp"
#include "features/shared_links/service.hpp"
#include "features/signals/alerts.hpp"
#include "features/signals/service.hpp"
#include "features/skills/service.hpp"
#include "features/terminals/service.hpp"
#include "features/threads/service.hpp"
#include "gateway/run_gateway.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "io/process/idle_memory.hpp"
#include "io/sandbox/sandbox.hpp"
#include "models/catalog.hpp"
#include "server/documents/document_routes.hpp"
#include "server/idempotency.hpp"
#include "server/mcp/server.hpp"
#include "server/metrics.hpp"
#include "server/server.hpp"
#include "storage/change_follower.hpp"
#include "storage/database.hpp"
#include "tools/shell/shell.hpp"
#include "tools/tool_set.hpp"

namespace agw {

/// All features in the order of their dependencies. A feature refers only to those above it, so they are destroyed in
/// reverse order. A list without logic.
class Gateway {
public:
  /// Creates the features and loads the records that they hold in memory. Starts nothing.
  Gateway(Loop& loop, const DataDirectory& directory, const Settings& settings, const Configured& configured,
          LockFile& lock);

  /// Starts the features, runs the loop until all of them have stopped, and returns the result. Call it once.
  GatewayEnd run(bool trace_loop);

private:
  // gateway.cpp and routes_and_tools.cpp: parts of the constructor.
  Routes all_routes();
  void add_tools(const Settings& settings);
  void load();
  void handle_jobs();
  void join_cluster(const Settings& settings);

  // start_and_stop.cpp
  Task<> begin();
  void lead();
  void lose();
  void fail(std::exception_ptr failure);
  Task<> drain(std::chrono::seconds limit);
  void end(ExitStatus status);
  Task<> shut_down();

  Loop& loop_;
  LockFile& lock_;
  std::unique_ptr<TlsContext> tls_;
  SystemClock clock_;
  BlockingPool blocking_;
  IdleMemory idle_memory_;
  Hub hub_;
  Access access_;
  Secrets secrets_;
  Sandbox sandbox_;
  const bool is_node_;
  bool leads_ = false;
  bool has_started_ = false;
  bool is_ending_ = false;
  StopSource ending_;
  ChangeFollower follower_;
  Database database_;
  Daemon daemon_;
  Filesystem filesystem_;
  Projects projects_;
  ProjectFiles project_files_;
  Signals signals_;
  HttpClient http_;
  Models models_;
  Attachments attachments_;
  Runs runs_;
  ExtensionOutbox extension_outbox_;
  Extensions extensions_;
  ModelServices model_services_;
  std::unique_ptr<Placements> placements_;  ///< null: this gateway is not part of a cluster
  Identities identities_;
  Stages stages_;
  ExtensionFiles extension_files_;
  Skills skills_;
  Threads threads_;
  Costs costs_;
  Alerts alerts_;
  BackgroundCompletions background_completions_;
  Knowledge knowledge_;
  Experiments experiments_;
  Proposals proposals_;
  Prompts prompts_;
  ThreadRetention thread_retention_;
  Approvals approvals_;
  Checkpoints checkpoints_;
  ToolSet tools_;
  UnknownNames unknown_names_;
  Browsers browsers_;
  Integrations integrations_;
  Shell shell_;
  Actions actions_;
  CallRunner calls_;
  ClientTools client_tools_;
  Engine engine_;
  ClientApi client_api_;
  Jobs jobs_;
  Research research_;
  Briefings briefings_;
  Push push_;
  SharedLinks shared_links_;
  Channels channels_;
  Configuration configuration_;
  DocumentRoutes document_routes_{blocking_};
  Metrics metrics_;
  Apps apps_;
  AppRoutes app_routes_;
  Terminals terminals_;
  Cluster cluster_;
  Readiness readiness_;
  Listener listener_;
  int port_;
  Hosts hosts_;
  Idempotency idempotency_;
  McpServer mcp_;
  Router router_;
  Server server_;
  std::vector<InterruptedRun> interrupted_;
  std::exception_ptr failure_;
  TaskGroup life_;
  ExitStatus status_ = ExitStatus::success;
};

}  // namespace agw
