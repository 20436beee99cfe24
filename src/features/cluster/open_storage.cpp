#include <filesystem>

#include <fmt/format.h>

#include "base/data_files.hpp"
#include "base/error.hpp"
#include "config/addresses.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "features/cluster/service.hpp"
#include "features/secrets/service.hpp"
#include "io/http/web_url.hpp"
#include "storage/engine.hpp"
#include "storage/postgres/engine.hpp"

namespace agw {

namespace {

/// Rejects unencrypted addresses beyond this host: connections between nodes carry the traffic of apps.
void check_address(const std::string& address, const Settings& settings) {
  if (settings.cluster.node.empty())
    throw StartError(ExitStatus::usage, "cluster.address needs cluster.node: it is for gateways that share a database");
  const auto url = WebUrl::parse(address);
  if (!url) throw StartError(ExitStatus::usage, fmt::format("cluster.address: {} has no valid host", address));
  if (address.starts_with("https://") || is_loopback(url->host())) return;
  throw StartError(
      ExitStatus::usage,
      fmt::format("cluster.address: {} would be reached unencrypted: use https://, and give this gateway a "
                  "certificate for that host (tls.cert and tls.key)",
                  address));
}

}  // namespace

std::unique_ptr<StorageEngine> open_storage(Loop& loop, const DataDirectory& directory, const Settings& settings,
                                            const Secrets& secrets, NodeHandlers handlers) {
  const auto file = directory.database();
  if (settings.cluster.database.empty() && !settings.cluster.node.empty())
    throw StartError(ExitStatus::usage, "cluster.node needs cluster.database: nodes share a database of PostgreSQL");
  if (settings.cluster.node.empty() && !settings.cluster.events.empty())
    throw StartError(ExitStatus::usage, "cluster.events needs cluster.node: it is for gateways that share a database");
  if (const auto& address = settings.cluster.address; !address.empty()) check_address(address, settings);
  if (settings.cluster.database.empty()) return open_file(loop, {.file = file, .backups = directory.backups()});
  if (std::filesystem::exists(file)) {
    throw StartError(ExitStatus::usage, fmt::format("{0} holds records that a gateway with cluster.database would not "
                                                    "see: move them there with `agw cluster init`, or to begin "
                                                    "with that database, move the file away (mv {0} {0}.old)",
                                                    file.string()));
  }
  try {
    return postgres::open_engine(
        loop,
        {.url = secrets.expand(settings.cluster.database),
         .node = settings.cluster.node,
         .cluster_file = settings.cluster.node.empty() ? std::filesystem::path() : directory.path / data_files::cluster,
         .shared_files = settings.cluster.files == ClusterFiles::shared ? directory.path : std::filesystem::path(),
         .on_changes = std::move(handlers.on_changes),
         .on_lead = std::move(handlers.on_lead),
         .on_lost_node = std::move(handlers.on_lost_node),
         .on_lost = std::move(handlers.on_lost)});
  } catch (const SecretError& error) {
    throw StartError(ExitStatus::usage, fmt::format("cluster.database: {}", error.what()));
  }
}

}  // namespace agw
