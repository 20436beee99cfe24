#include "gateway.hpp"

#include <cstdio>
#include <functional>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/log.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "features/access/routes.hpp"
#include "features/actions/service.hpp"
#include "features/agents/routes.hpp"
#include "features/agents/service.hpp"
#include "features/agents/tools.hpp"
#include "features/apps/routes.hpp"
#include "features/apps/service.hpp"
#include "features/attachments/routes.hpp"
#include "features/attachments/service.hpp"
#include "features/briefings/routes.hpp"
#include "features/costs/own_texts.hpp"
#include "features/costs/routes.hpp"
#include "features/costs/service.hpp"
#include "features/daemon/routes.hpp"
#include "features/engine/model_routes.hpp"
#include "features/engine/prompt.hpp"
#include "features/engine/routes.hpp"
#include "features/engine/tools.hpp"
#include "features/events/hub.hpp"
#include "features/experiments/routes.hpp"
#include "features/extensions/file_routes.hpp"
#include "features/extensions/files.hpp"
#include "features/extensions/outbox.hpp"
#include "features/extensions/routes.hpp"
#include "features/extensions/service.hpp"
#include "features/extensions/tools.hpp"
#include "features/filesystem/routes.hpp"
#include "features/jobs/routes.hpp"
#include "features/jobs/tools.hpp"
#include "features/knowledge/routes.hpp"
#include "features/knowledge/tools.hpp"
#include "features/mcp/routes.hpp"
#include "features/mcp/service.hpp"
#include "features/projects/routes.hpp"
#include "features/proposals/routes.hpp"
#include "features/proposals/tools.hpp"
#include "features/research/routes.hpp"
#include "features/runs/service.hpp"
#include "features/secrets/service.hpp"
#include "features/signals/routes.hpp"
#include "features/skills/service.hpp"
#include "features/skills/tools.hpp"
#include "features/threads/routes.hpp"
#include "features/threads/service.hpp"
#include "features/threads/tools.hpp"
#include "features/watch/service.hpp"
#include "io/blocking.hpp"
#include "io/http_client.hpp"
#include "io/lock_file.hpp"
#include "io/program_pages.hpp"
#include "io/resolve_path.hpp"
#include "io/sandbox.hpp"
#include "links.hpp"
#include "models/catalog.hpp"
#include "models/configured.hpp"
#include "server/document_routes.hpp"
#include "server/idempotency.hpp"
#include "server/measures.hpp"
#include "server/metrics.hpp"
#include "server/page_routes.hpp"
#include "server/server.hpp"
#include "storage/database.hpp"
#include "tools/file_tools.hpp"
#include "tools/grep.hpp"
#include "tools/shell.hpp"
#include "tools/tool_set.hpp"
#include "tools/web_fetch.hpp"
#include "tools/web_search.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto time_for_clients_to_go = 100ms;
constexpr std::size_t mebibyte = 1024 * 1024;

Hosts::Options hosts_of(const Settings& settings, int port) {
  return {.bound_host = settings.host,
          .port = port,
          .tls = !settings.tls.cert.empty(),
          .hosts = settings.hosts,
          .origins = settings.origins,
          .public_url = settings.public_url};
}

void append(Routes& table, Routes more) {
  table.insert(table.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Every feature, in the order in which each may know the ones before it. A list, and no logic.
class Gateway {
public:
  Gateway(Loop& loop, const DataDirectory& directory, const Settings& settings, LockFile& lock)
      : loop_(loop),
        lock_(lock),
        tls_(configured_tls(settings.tls)),
        blocking_(loop),
        access_(loop, blocking_, clock_, directory.path,
                settings.auth == Auth::none ? std::nullopt : std::optional(Token::load_or_create(directory.path))),
        secrets_(directory.path),
        sandbox_({.enabled = settings.sandbox == SandboxKind::bubblewrap,
                  .home = directory.home,
                  .data_directory = directory.path}),
        database_(loop, {.file = directory.database(), .backups = directory.backups()}),
        daemon_(loop, [this](ExitStatus status) { end(status); }),
        filesystem_(blocking_, directory.home),
        projects_(database_, filesystem_, clock_, directory.path),
        signals_(database_, hub_, clock_, std::chrono::days(settings.retention.days)),
        http_(loop),
        models_(http_, configured_models(settings, process_environment()), Prices(directory.path / data_files::prices)),
        attachments_(blocking_, database_, clock_, directory.path),
        runs_(loop, database_, hub_, clock_),
        extension_outbox_(loop, database_, directory.path, std::chrono::days(settings.retention.days)),
        extensions_(database_, hub_, clock_),
        identities_(directory.path, extensions_),
        stages_(database_, clock_, extensions_),
        extension_files_(loop, extensions_, directory.home, directory.path),
        skills_(blocking_, directory.home, directory.path),
        threads_(loop, database_, hub_, clock_, thread_links(extensions_, projects_, runs_, engine_, jobs_)),
        costs_(database_, clock_, TimeZone::host(), extensions_, threads_, models_, settings.budget_usd_per_day),
        watch_(loop, blocking_, signals_, costs_, clock_, directory.path),
        own_texts_(database_, models_, extensions_, costs_),
        knowledge_(loop, blocking_, database_, clock_, directory.path,
                   {.write = std::bind_front(&OwnTexts::write, &own_texts_)}),
        experiments_(database_),
        proposals_(loop, database_, hub_, clock_, extensions_,
                   {.data_directory = directory.path, .kept = std::chrono::days(settings.retention.days)},
                   proposal_links(projects_)),
        prompts_(blocking_, directory.home, directory.path, clock_, identities_, prompt_links(projects_, skills_)),
        integrations_(loop, extensions_, http_, blocking_, secrets_, sandbox_,
                      {.home = directory.home, .data_directory = directory.path}),
        shell_(loop, blocking_, sandbox_, [this](auto agent_id) { return limits_of_shell(agent_id); }),
        actions_(extensions_, http_, blocking_, clock_, secrets_, action_links(integrations_, shell_)),
        calls_(loop, runs_, threads_, stages_, tools_),
        engine_(
            {loop, database_, clock_, extensions_, threads_, runs_, models_, prompts_, costs_, attachments_, calls_}),
        jobs_(loop, database_, hub_, clock_, signals_, extensions_, threads_, runs_, engine_, models_,
              {.directory = directory.path / "jobs", .kept = std::chrono::days(settings.retention.days)}),
        research_(loop, sandbox_,
                  {database_, hub_, clock_, blocking_, extensions_, stages_, threads_, models_, costs_, engine_,
                   experiments_, proposals_},
                  {.home = directory.home, .data_directory = resolve_path(directory.path)}, research_links(projects_)),
        briefings_(loop, clock_, signals_, projects_, extensions_, threads_, jobs_,
                   briefing_links(proposals_, costs_, own_texts_)),
        apps_(loop, database_, hub_, clock_, extensions_, blocking_, secrets_, sandbox_,
              {.home = directory.home, .data_directory = directory.path}),
        app_routes_(loop, apps_, blocking_, access_),
        listener_(loop, settings.host, static_cast<int>(settings.port)),
        hosts_(hosts_of(settings, listener_.port())),
        idempotency_(loop, database_, clock_),
        router_(all_routes()),
        server_(loop, blocking_, std::move(listener_), hosts_, router_, access_, idempotency_, hub_, metrics_,
                jobs_.aftermath(), [this](const auto* threads) { return runs_.under_way(threads); },
                {.connections = static_cast<std::size_t>(settings.limits.connections),
                 .body_limit = static_cast<std::size_t>(settings.limits.body_mib) * mebibyte,
                 .tls = tls_.get()}),
        life_(loop) {
    document_routes_.describe_table(router_.routes());
    add_process_measures(metrics_);
    add_measures(metrics_, server_, database_, runs_, costs_);
    feed_watch();
    add_tools(settings);
    models_.add(std::string(offline_provider), make_librarian(knowledge_, extensions_, threads_));
    auto& connection = database_.start_connection();
    projects_.load(connection);
    extensions_.follow_with(extension_outbox_);
    extensions_.load(connection);
    stages_.load(connection);
    costs_.load(connection);
    proposals_.load(connection);
    interrupted_ = Runs::interrupted(connection);
    jobs_.load(connection, interrupted_);
    jobs_.handle("compile-knowledge",
                 {.work = [this](JobWork work) { return knowledge_.compile(work.dry, work.stop); }});
    apps_.load(connection);
    research_.load(connection);
    jobs_.handle_where_given("research", [this](json::object settings, JobWork work) {
      return research_.run_until_clear(std::move(settings), work.run_id, work.dry, work.stop);
    });
    jobs_.handle("self-reflect",
                 {.when = JobHandler::When::without_model, .work = [this](JobWork) { return briefings_.reflect(); }});
  }

  ExitStatus run() {
    life_.spawn(begin());
    loop_.run();
    database_.close();
    return status_;
  }

private:
  Routes all_routes() {
    Routes table;
    append(table, daemon_routes_.routes());
    append(table, access_routes_.routes());
    append(table, filesystem_routes_.routes());
    append(table, project_routes_.routes());
    append(table, signal_routes_.routes());
    append(table, attachment_routes_.routes());
    append(table, extension_routes_.routes());
    append(table, agent_routes_.routes());
    append(table, extension_file_routes_.routes());
    append(table, thread_routes_.routes());
    append(table, cost_routes_.routes());
    append(table, knowledge_routes_.routes());
    append(table, experiment_routes_.routes());
    append(table, proposal_routes_.routes());
    append(table, engine_routes_.routes());
    append(table, model_routes_.routes());
    append(table, job_routes_.routes());
    append(table, app_routes_.routes());
    append(table, integration_routes_.routes());
    append(table, research_routes_.routes());
    append(table, briefing_routes_.routes());
    append(table, document_routes_.routes());
    append(table, metrics_.routes());
    append(table, page_routes_.routes());
    return table;
  }

  ShellLimits limits_of_shell(std::string_view agent_id) const {
    const auto agent = extensions_.find_agent(agent_id);
    return agent ? shell_limits(agent->definition.members()) : ShellLimits{};
  }

  void add_tools(const Settings& settings) {
    tools_.add(file_tools({.loop = loop_, .blocking = blocking_, .shell = shell_, .ripgrep = find_ripgrep()}));
    tools_.add(search_turns_tool(threads_));
    tools_.add(remember_tool(identities_));
    tools_.add(knowledge_tools(knowledge_, threads_, {.blocking = blocking_, .fetch = [this](const ToolCall& call) {
                                                        return tools_.find("WebFetch")->call(call);
                                                      }}));
    tools_.add(web_fetch_tool(
        http_, blocking_,
        {.allow_hosts = settings.tools.web_fetch_allow_hosts,
         .was_named = [this](const ToolRun& run, const WebUrl& url) { return is_url_named(threads_, run, url); }}));
    tools_.add(web_search_tool(http_, web_search_service(settings.web_search, process_environment())));
    tools_.add([this] { return actions_.tools(); });
    tools_.add([this] { return integrations_.tools(); });
    calls_.settle_with([this](Stop& stop) { return integrations_.settled(stop); });
    tools_.add(extension_tools(extensions_));
    tools_.add(read_skill_tool(skills_, extensions_, projects_));
    tools_.add(delegate_tool(engine_));
    tools_.add(run_job_tool(jobs_));
    tools_.add(propose_tool());
    calls_.stage_with([this](const ToolRun& run, StagedChange change) {
      return proposals_.stage(run.agent_name, run.run_id, std::move(change));
    });
  }

  void feed_watch() {
    database_.on_disk_full([this] { watch_.disk_full(); });
    engine_.observe([this](const Run& run, const RunOutcome& outcome) {
      const auto provider = outcome.model.substr(0, outcome.model.find('/'));
      const bool is_of_provider = outcome.provider_failed || outcome.error.empty();
      if (is_of_provider && !outcome.stopped) watch_.answered({provider, outcome.error, jobs_.cause_in(run.id)});
    });
    costs_.observe([this] { watch_.money_spent(); });
  }

  Task<> begin() {
    co_await engine_.recover(std::exchange(interrupted_, {}));
    co_await proposals_.recover();
    co_await research_.recover();
    extension_outbox_.start();
    proposals_.start();
    runs_.start();
    threads_.start();
    knowledge_.start();
    jobs_.start([this] { return proposals_.tell_recovered(); });
    integrations_.start();
    watch_.start();
    daemon_.start();
    server_.start();
    access_.start([this] { server_.close_sockets(); });
    lock_.publish(server_.url(), tls_ ? tls_->fingerprint() : "");
    fmt::print("listening on {}\n", server_.url());
    std::fflush(stdout);
    give_back_program_pages();
  }

  void end(ExitStatus status) {
    status_ = status;
    life_.spawn(shut_down());
  }

  Task<> shut_down() {
    apps_.hang_up();
    shell_.hurry();
    co_await access_.stop();
    co_await jobs_.disarm();
    co_await research_.stop();
    co_await engine_.stop();
    co_await integrations_.stop();
    co_await watch_.stop();
    co_await briefings_.stop();
    co_await server_.stop(time_for_clients_to_go);
    co_await jobs_.stop();
    co_await apps_.stop();
    co_await knowledge_.stop();
    co_await threads_.stop();
    co_await runs_.stop();
    co_await proposals_.stop();
    co_await extension_outbox_.stop();
    daemon_.stop();
  }

  Loop& loop_;
  LockFile& lock_;
  std::unique_ptr<TlsContext> tls_;
  SystemClock clock_;
  BlockingPool blocking_;
  Access access_;
  Secrets secrets_;
  Sandbox sandbox_;
  Database database_;
  Hub hub_;
  Daemon daemon_;
  Filesystem filesystem_;
  Projects projects_;
  Signals signals_;
  HttpClient http_;
  Models models_;
  Attachments attachments_;
  Runs runs_;
  ExtensionOutbox extension_outbox_;
  Extensions extensions_;
  Identities identities_;
  Stages stages_;
  ExtensionFiles extension_files_;
  Skills skills_;
  Threads threads_;
  Costs costs_;
  Watch watch_;
  OwnTexts own_texts_;
  Knowledge knowledge_;
  Experiments experiments_;
  Proposals proposals_;
  Prompts prompts_;
  ToolSet tools_;
  Integrations integrations_;
  Shell shell_;
  Actions actions_;
  CallRunner calls_;
  Engine engine_;
  Jobs jobs_;
  Research research_;
  Briefings briefings_;
  DaemonRoutes daemon_routes_{daemon_};
  AccessRoutes access_routes_{access_};
  FilesystemRoutes filesystem_routes_{filesystem_};
  ProjectRoutes project_routes_{projects_};
  SignalRoutes signal_routes_{signals_};
  AttachmentRoutes attachment_routes_{attachments_};
  ExtensionRoutes extension_routes_{extensions_};
  AgentRoutes agent_routes_{identities_, stages_};
  ExtensionFileRoutes extension_file_routes_{extensions_, extension_files_};
  ThreadRoutes thread_routes_{threads_};
  ModelRoutes model_routes_{models_};
  CostRoutes cost_routes_{costs_};
  KnowledgeRoutes knowledge_routes_{knowledge_};
  ExperimentRoutes experiment_routes_{experiments_};
  ProposalRoutes proposal_routes_{proposals_};
  EngineRoutes engine_routes_{engine_, threads_, runs_, stages_};
  JobRoutes job_routes_{jobs_, clock_};
  ResearchRoutes research_routes_{research_};
  BriefingRoutes briefing_routes_{briefings_};
  DocumentRoutes document_routes_;
  PageRoutes page_routes_;
  Metrics metrics_;
  Apps apps_;
  AppRoutes app_routes_;
  IntegrationRoutes integration_routes_{integrations_};
  Listener listener_;
  Hosts hosts_;
  Idempotency idempotency_;
  Router router_;
  Server server_;
  std::vector<InterruptedRun> interrupted_;
  Group life_;
  ExitStatus status_ = ExitStatus::success;
};

}  // namespace

ExitStatus run_gateway(const DataDirectory& directory, const Settings& settings, LockFile& lock) {
  Loop loop;
  return Gateway(loop, directory, settings, lock).run();
}

}  // namespace agw
