#include "gateway.hpp"

#include <filesystem>
#include <functional>

#include "api/route.hpp"
#include "base/async/assert.hpp"
#include "base/data_files.hpp"
#include "base/log.hpp"
#include "config/environment.hpp"
#include "features/access/service.hpp"
#include "features/actions/service.hpp"
#include "features/agents/service.hpp"
#include "features/approvals/service.hpp"
#include "features/apps/routes.hpp"
#include "features/apps/service.hpp"
#include "features/attachments/service.hpp"
#include "features/briefings/service.hpp"
#include "features/channels/service.hpp"
#include "features/checkpoints/service.hpp"
#include "features/client_api/service.hpp"
#include "features/client_tools/service.hpp"
#include "features/cluster/readiness.hpp"
#include "features/cluster/service.hpp"
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
#include "features/librarian/service.hpp"
#include "features/model_services/service.hpp"
#include "features/permissions/service.hpp"
#include "features/permissions/unknown_names.hpp"
#include "features/projects/files.hpp"
#include "features/projects/service.hpp"
#include "features/proposals/service.hpp"
#include "features/push/service.hpp"
#include "features/research/service.hpp"
#include "features/runs/service.hpp"
#include "features/secrets/service.hpp"
#include "features/signals/alerts.hpp"
#include "features/signals/service.hpp"
#include "features/skills/service.hpp"
#include "features/terminals/service.hpp"
#include "features/threads/service.hpp"
#include "io/files/resolve_path.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "io/process/idle_memory.hpp"
#include "io/process/loop_trace.hpp"
#include "io/process/process_setup.hpp"
#include "io/sandbox/sandbox.hpp"
#include "models/catalog.hpp"
#include "models/settings.hpp"
#include "server/documents/document_routes.hpp"
#include "server/documents/page_routes.hpp"
#include "server/idempotency.hpp"
#include "server/mcp/server.hpp"
#include "server/metrics.hpp"
#include "server/passed_request.hpp"
#include "server/server.hpp"
#include "storage/change_follower.hpp"
#include "storage/database.hpp"
#include "tools/files/file_tools.hpp"
#include "tools/search/grep.hpp"
#include "tools/shell/shell.hpp"
#include "tools/tool.hpp"
#include "tools/tool_set.hpp"
#include "tools/web/web_fetch.hpp"
#include "tools/web/web_search.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto time_for_clients_to_go = 100ms, max_callback = 1ms;

void append(Routes& table, Routes more) {
  table.insert(table.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Every feature, in the order of their dependencies. A list without logic.
class Gateway {
public:
  Gateway(Loop& loop, const DataDirectory& directory, const Settings& settings, LockFile& lock)
      : loop_(loop),
        lock_(lock),
        tls_(configured_tls(settings.tls)),
        blocking_(loop),
        idle_memory_(loop, blocking_),
        access_(loop, blocking_, hub_, clock_, directory.path,
                settings.auth == Auth::none ? std::nullopt : std::optional(Token::load_or_create(directory.path))),
        secrets_(directory.path),
        sandbox_({.enabled = settings.sandbox == SandboxKind::bubblewrap,
                  .home = directory.home,
                  .data_directory = directory.path,
                  .own_directory = directory.own}),
        is_node_(!settings.cluster.node.empty()),
        follower_(loop),
        database_(loop, open_storage(loop, directory, settings, secrets_,
                                     {.on_changes = std::bind_front(&ChangeFollower::take, &follower_),
                                      .on_lead = [this] { lead(); },
                                      .on_lost_node = [this](const auto& lost) { cluster_.take_over(lost); },
                                      .on_lost = [this] { lose(); }})),
        daemon_(loop, [this](ExitStatus status) { end(status); }),
        filesystem_(blocking_, directory.home),
        projects_(database_, filesystem_, clock_, directory.path),
        project_files_(projects_, filesystem_, directory.path),
        signals_(database_, hub_, clock_, std::chrono::days(settings.retention.days)),
        http_(loop),
        models_(http_, configured_models(settings, process_environment()), Prices(directory.path / data_files::prices)),
        attachments_(blocking_, database_, clock_, directory.path),
        runs_(loop, database_, hub_, clock_),
        extension_outbox_(loop, database_, directory.path, std::chrono::days(settings.retention.days),
                          settings.cluster.files == ClusterFiles::shared ? ExtensionOutbox::Files::shared
                                                                         : ExtensionOutbox::Files::own),
        extensions_(database_, hub_, clock_, &extension_outbox_),
        model_services_({loop, database_, hub_, extensions_, http_, blocking_, secrets_, signals_, models_}, {}),
        placements_(is_node_ ? std::make_unique<Placements>(loop, database_, settings.cluster.node) : nullptr),
        identities_(directory.path, extensions_),
        stages_(database_, clock_, extensions_),
        extension_files_(loop, extensions_, directory.home, directory.path),
        skills_(blocking_, directory.home, directory.path),
        threads_(loop, database_, hub_, clock_, projects_, runs_, extensions_),
        costs_(loop, database_, hub_, clock_, TimeZone::host(), extensions_, threads_, models_,
               settings.budget_usd_per_day),
        alerts_(loop, blocking_, database_, hub_, signals_, costs_, clock_, directory.path,
                settings.cluster.database.empty() ? std::optional(first_database_check()) : std::nullopt),
        background_completions_(database_, models_, extensions_, costs_),
        knowledge_(loop, blocking_, database_, clock_, directory.path, background_completions_,
                   settings.cluster.files == ClusterFiles::shared),
        experiments_(database_),
        proposals_(loop, database_, hub_, clock_, projects_, extensions_,
                   {.data_directory = directory.path, .kept = std::chrono::days(settings.retention.days)}),
        prompts_(blocking_, directory.home, directory.path, clock_, projects_, identities_, skills_),
        thread_retention_(loop, database_, hub_, clock_, runs_, threads_, background_completions_,
                          static_cast<std::size_t>(settings.retention.turns_per_job_thread)),
        approvals_(loop, database_, hub_, clock_, runs_, threads_, approval_options(settings)),
        checkpoints_(loop, blocking_, database_, clock_, runs_, threads_, checkpoint_options(settings, directory)),
        unknown_names_(extensions_, tools_, models_, skills_),
        integrations_(loop, hub_, extensions_, http_, blocking_, secrets_, sandbox_,
                      {.home = directory.home, .data_directory = directory.own, .placements = placements_.get()}),
        shell_(loop, blocking_, sandbox_, shell_limits_from(extensions_), &checkpoints_),
        actions_(hub_, extensions_, http_, blocking_, clock_, secrets_, integrations_, shell_),
        calls_(loop, runs_, threads_, stages_, proposals_, integrations_, approvals_, blocking_, tools_, checkpoints_),
        client_tools_(blocking_),
        engine_({loop, database_, clock_, extensions_, threads_, runs_, models_, prompts_, costs_, alerts_,
                 attachments_, calls_, approvals_}),
        client_api_({loop, blocking_, database_, clock_, http_, models_, extensions_, costs_, threads_, runs_,
                     attachments_, engine_},
                    settings.limits.body_bytes()),
        jobs_(loop, database_, hub_, clock_, signals_, extensions_, threads_, runs_, engine_, models_, blocking_,
              sandbox_,
              {.directory = directory.path / "jobs",
               .kept = std::chrono::days(settings.retention.days),
               .is_node = is_node_}),
        research_(loop, sandbox_,
                  {database_, hub_, clock_, blocking_, extensions_, projects_, stages_, threads_, models_, costs_,
                   checkpoints_, engine_, experiments_, proposals_},
                  {.home = directory.home, .data_directory = resolve_path(directory.path)}),
        briefings_(loop, clock_, signals_, projects_, extensions_, threads_, costs_, background_completions_,
                   proposals_, jobs_),
        push_(loop, {database_, hub_, clock_, blocking_, secrets_, http_, access_}, push_options(settings)),
        channels_({loop, database_, hub_, clock_, blocking_, secrets_, http_, signals_, attachments_, extensions_,
                   threads_, runs_, approvals_, engine_}),
        apps_(loop, database_, hub_, clock_, extensions_, blocking_, secrets_, sandbox_,
              {.home = directory.home, .data_directory = directory.path, .placements = placements_.get()}),
        app_routes_(loop, apps_, blocking_, access_),
        terminals_(loop, blocking_, sandbox_, projects_, extensions_, terminal_options(settings, directory)),
        cluster_({loop, database_, clock_, hub_, secrets_, follower_, projects_, extensions_, model_services_, stages_,
                  costs_, approvals_, runs_, engine_, jobs_, push_, access_, blocking_, integrations_}),
        readiness_({loop, database_, daemon_, cluster_, !settings.cluster.database.empty()}),
        listener_(loop, settings.host, static_cast<int>(settings.port)),
        port_(listener_.port()),
        hosts_(hosts_options(settings, port_)),
        idempotency_(loop, database_, clock_,
                     is_node_ ? Idempotency::Shared::with_other_nodes : Idempotency::Shared::no),
        mcp_({loop, hub_, extensions_, engine_, runs_, http_, idempotency_, blocking_}, mcp_options(settings)),
        router_(all_routes()),
        server_(loop, blocking_, std::move(listener_), hosts_, router_, access_, idempotency_, hub_, metrics_,
                std::bind_front(&Runs::active_text, &runs_),
                {.connections = static_cast<std::size_t>(settings.limits.connections),
                 .body_limit = settings.limits.body_bytes(),
                 .tls = tls_.get(),
                 .others = is_node_ ? &cluster_ : nullptr,
                 .runs_elsewhere = is_node_ ? std::bind_front(&Cluster::runs_elsewhere, &cluster_) : RunsElsewhere()}),
        life_(loop) {
    document_routes_.describe_table(router_.routes());
    mcp_.use(router_);
    add_process_metrics(metrics_);
    add_gateway_metrics(metrics_, server_, database_, runs_, costs_);
    add_tools(settings);
    alerts_.watch(projects_);
    models_.add(std::string(offline_provider), make_librarian(knowledge_, extensions_, threads_));
    auto& connection = database_.start_connection();
    projects_.load(connection);
    extensions_.load(connection);
    model_services_.load(connection);
    stages_.load(connection);
    costs_.load(connection);
    proposals_.load(connection);
    approvals_.load(connection);
    interrupted_ = Runs::interrupted(connection);
    jobs_.load(connection, interrupted_);
    push_.load(connection);
    apps_.load(connection);
    research_.load(connection);
    if (!is_node_) checkpoints_.load(connection);
    handle_knowledge_job(jobs_, knowledge_);
    handle_research_jobs(jobs_, research_);
    handle_reflection_job(jobs_, briefings_);
    if (is_node_) {
      access_.share_pairing(database_);
      daemon_.on_termination(
          [this, limit = std::chrono::seconds(settings.cluster.drain_seconds)] { life_.spawn(drain(limit)); });
      cluster_.start(settings, server_.url(), *placements_, [this](PassedRequest request) {
        return answer_passed(std::move(request), {router_, idempotency_, blocking_, hub_});
      });
    }
  }

  GatewayEnd run(bool trace_loop) {
    life_.on_failure(std::bind_front(&Gateway::fail, this));
    life_.spawn(begin());
    {
      const DisallowBlocking scope;
      if (trace_loop) run_traced(loop_, max_callback, log_long_callback);
      if (!trace_loop) loop_.run();
    }
    database_.close();
    if (failure_) std::rethrow_exception(failure_);
    return {status_, port_};
  }

private:
  Routes all_routes() {
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
    append(table, integration_routes(integrations_));
    append(table, research_routes(research_));
    append(table, briefing_routes(briefings_));
    append(table, push_routes(push_));
    append(table, channel_routes(channels_));
    append(table, mcp_.routes());
    append(table, document_routes_.routes());
    append(table, metrics_routes(metrics_));
    append(table, page_routes(filesystem_.blocking()));
    if (is_node_) refuse_new_runs(table, daemon_);
    return table;
  }

  void add_tools(const Settings& settings) {
    tools_.add(file_tools(
        {.loop = loop_, .blocking = blocking_, .shell = shell_, .ripgrep = find_ripgrep(), .recorder = &checkpoints_}));
    tools_.add(search_turns_tool(threads_));
    tools_.add(tasks_tool(threads_));
    tools_.add(remember_tool(identities_));
    tools_.add(knowledge_tools(knowledge_, threads_, blocking_, tools_));
    tools_.add(web_fetch_tool(
        http_, blocking_, {.allow_hosts = settings.tools.web_fetch_allow_hosts, .was_named = named_urls(threads_)}));
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

  Task<> begin() {
    const bool was_interrupted = !interrupted_.empty();
    co_await engine_.recover(std::exchange(interrupted_, {}));
    if (is_node_ && was_interrupted) cluster_.have_all_catch_up("a node has started anew");
    co_await proposals_.recover();
    co_await research_.recover();
    // The undos of other gateways may be under way.
    if (!is_node_) co_await checkpoints_.recover();
    server_.start();
    access_.start();
    lock_.publish(server_.url(), tls_ ? tls_->fingerprint() : "");
    Daemon::announce(server_.url());
    // What clients need not wait for. No request comes between.
    extension_outbox_.start();
    proposals_.start();
    runs_.start();
    checkpoints_.start();
    threads_.start();
    knowledge_.start();
    jobs_.start();
    integrations_.start();
    has_started_ = true;
    if (placements_ && !is_ending_) placements_->start();
    if (leads_ && !is_ending_) extensions_.lead();
    if (!is_node_ || leads_) channels_.start();
    alerts_.start();
    daemon_.start();
    idle_memory_.start();
    mcp_.start();
    release_program_pages();
  }

  /// Of the nodes, one answers in messengers: two would answer each message twice.
  void lead() {
    log::info("this node is the first one: channels are connected here");
    leads_ = true;
    // What begins before the start has succeeded would outlive its failure.
    if (!has_started_ || is_ending_) return;
    extensions_.lead();
    if (!daemon_.is_draining()) channels_.start();
  }

  void lose() {
    if (is_ending_) return;
    log::error("this node cannot go on, as others may have taken it for lost: it starts anew");
    end(daemon_.is_draining() ? ExitStatus::success : ExitStatus::restart);
  }

  void fail(std::exception_ptr failure) {
    failure_ = std::move(failure);
    if (!has_started_) life_.spawn(cluster_.stop());  // nothing else keeps the loop going yet
  }

  Task<> drain(std::chrono::seconds limit) {
    cluster_.send_clients_away();
    co_await jobs_.stop_schedule();
    co_await with_timeout(ending_, limit, client_api_.until_all_is_answered());
    daemon_.end_after(0ms, ExitStatus::success);
  }

  void end(ExitStatus status) {
    if (std::exchange(is_ending_, true)) return;
    ending_.request();
    status_ = status;
    life_.spawn(shut_down());
  }

  Task<> shut_down() {
    database_.hurry();
    if (is_node_) cluster_.send_clients_away();
    co_await readiness_.stop();
    co_await cluster_.stop();
    apps_.begin_stop();
    shell_.hurry();
    co_await access_.stop();
    co_await jobs_.disarm();
    co_await research_.stop();
    co_await channels_.stop();
    co_await engine_.stop();
    co_await client_api_.stop();
    co_await integrations_.stop();
    co_await model_services_.stop();
    co_await alerts_.stop();
    co_await briefings_.stop();
    co_await push_.stop();
    co_await mcp_.stop();
    co_await terminals_.stop();
    co_await server_.stop(time_for_clients_to_go);
    co_await jobs_.stop();
    co_await apps_.stop();
    co_await knowledge_.stop();
    co_await thread_retention_.stop();
    co_await threads_.stop();
    co_await approvals_.stop();
    co_await checkpoints_.stop();
    co_await runs_.stop();
    co_await proposals_.stop();
    co_await extension_outbox_.stop();
    co_await idle_memory_.stop();
    if (is_node_) co_await cluster_.leave();
    daemon_.stop();
  }

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
  std::unique_ptr<Placements> placements_;  ///< null: there are no other nodes
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
  Channels channels_;
  DocumentRoutes document_routes_;
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

}  // namespace

GatewayEnd run_gateway(const DataDirectory& directory, const Settings& settings, LockFile& lock, bool trace_loop) {
  Loop loop;
  return Gateway(loop, directory, settings, lock).run(trace_loop);
}

}  // namespace agw
