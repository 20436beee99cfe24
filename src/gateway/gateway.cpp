#include "gateway/gateway.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/data_files.hpp"
#include "config/environment.hpp"
#include "features/librarian/service.hpp"
#include "features/permissions/service.hpp"
#include "io/files/resolve_path.hpp"
#include "models/settings.hpp"
#include "server/passed_request.hpp"

namespace agw {

Gateway::Gateway(Loop& loop, const DataDirectory& directory, const Settings& settings, const Configured& configured,
                 LockFile& lock)
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
      models_(http_, blocking_, configured_models(settings, process_environment()),
              Prices(directory.path / data_files::prices)),
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
                        static_cast<std::size_t>(settings.retention.turns_per_job_thread), Jobs::has_as_own),
      approvals_(loop, database_, hub_, clock_, runs_, threads_, approval_options(settings)),
      checkpoints_(loop, blocking_, database_, clock_, runs_, threads_, checkpoint_options(settings, directory)),
      unknown_names_(extensions_, tools_, models_, skills_),
      browsers_(loop, blocking_, sandbox_, threads_, extensions_, browser_options(settings, directory)),
      integrations_(loop, hub_, extensions_, http_, blocking_, secrets_, sandbox_, browsers_,
                    {.home = directory.home, .data_directory = directory.own, .placements = placements_.get()}),
      shell_(loop, blocking_, sandbox_, shell_limits_from(extensions_), &checkpoints_),
      actions_(hub_, extensions_, http_, blocking_, clock_, secrets_, integrations_, shell_),
      calls_(loop, runs_, threads_, stages_, proposals_, integrations_, approvals_, attachments_, blocking_, tools_,
             checkpoints_),
      client_tools_(blocking_),
      engine_({loop, blocking_, database_, clock_, extensions_, threads_, runs_, models_, prompts_, costs_, alerts_,
               attachments_, calls_, approvals_}),
      client_api_({loop, blocking_, database_, clock_, http_, models_, model_services_, extensions_, costs_, threads_,
                   runs_, attachments_, engine_},
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
      briefings_(loop, clock_, signals_, projects_, extensions_, threads_, costs_, background_completions_, proposals_,
                 jobs_),
      push_(loop, {database_, hub_, clock_, blocking_, secrets_, http_, access_}, push_options(settings)),
      shared_links_(loop, {database_, clock_, blocking_}),
      channels_({loop, database_, hub_, clock_, blocking_, secrets_, http_, signals_, attachments_, extensions_,
                 threads_, runs_, approvals_, engine_}),
      configuration_({blocking_, costs_, approvals_}, configured.sources, configured.settings),
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
      idempotency_(loop, database_, clock_, is_node_ ? Idempotency::Shared::with_other_nodes : Idempotency::Shared::no),
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
  load();
  handle_jobs();
  if (is_node_) join_cluster(settings);
}

void Gateway::load() {
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
  shared_links_.load(connection);
  apps_.load(connection);
  research_.load(connection);
  if (!is_node_) checkpoints_.load(connection);
}

void Gateway::handle_jobs() {
  handle_knowledge_job(jobs_, knowledge_);
  handle_research_jobs(jobs_, research_);
  handle_reflection_job(jobs_, briefings_);
}

void Gateway::join_cluster(const Settings& settings) {
  access_.share_pairing(database_);
  daemon_.on_termination(
      [this, limit = std::chrono::seconds(settings.cluster.drain_seconds)] { life_.spawn(drain(limit)); });
  cluster_.start(settings, server_.url(), *placements_, [this](PassedRequest request) {
    return answer_passed(std::move(request), {router_, idempotency_, blocking_, hub_});
  });
}
}  // namespace agw
