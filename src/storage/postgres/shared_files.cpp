#include "storage/postgres/shared_files.hpp"

#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/data_files.hpp"
#include "base/error.hpp"
#include "io/files/atomic_file.hpp"

namespace agw::postgres {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Allows for nodes that start at the same time and for file systems that show new files to other hosts with a delay.
constexpr auto marker_timeout = 5s;
constexpr auto marker_poll_interval = 20ms;
static_assert(marker_poll_interval < marker_timeout);

struct EnteredNode {
  std::string name;
  std::string id;  ///< of its current start: an outdated copy of its directory has another id
  bool shares_files;
};

fs::path marker_of(const fs::path& data_directory, const std::string& node) {
  AGW_ASSERT(!data_directory.empty());
  AGW_ASSERT(!node.empty());
  return data_directory / data_files::nodes / node / "running";
}

/// The nodes that hold the lock of their name (7422), which excludes lost ones.
std::vector<EnteredNode> entered_nodes(Connection& connection) {
  auto row = connection.prepare(
      "SELECT node, id, shares_files FROM gateway_owner WHERE node <> '' AND EXISTS (SELECT FROM pg_locks JOIN "
      "pg_database ON pg_database.oid = database WHERE datname = current_database() AND locktype = 'advisory' AND "
      "granted AND CAST(classid AS bigint) = 7422 AND "
      "objid = CAST(hashtext(coalesce(current_schema(), '') || '/' || node) AS oid)) ORDER BY node");
  std::vector<EnteredNode> nodes;
  while (row.step()) nodes.push_back({row.string(0), row.string(1), row.boolean(2)});
  return nodes;
}

bool has_marker(const fs::path& data_directory, const EnteredNode& node) {
  AGW_DEBUG_ASSERT(may_block());
  const auto end = std::chrono::steady_clock::now() + marker_timeout;
  while (true) {
    std::string id;
    std::ifstream(marker_of(data_directory, node.name)) >> id;
    if (id == node.id) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(marker_poll_interval);
  }
}

std::string problem_with(const EnteredNode& other, const Address& address, const NodeFiles& files) {
  AGW_ASSERT(other.name != files.node);
  const bool shares = !files.data_directory.empty();
  if (shares && !other.shares_files) {
    return fmt::format(
        "the node {} of the {} (cluster.database) has its own data directory: set cluster.files to "
        "shared there too, or nowhere",
        other.name, address.name);
  }
  if (!shares && other.shares_files) {
    return fmt::format(
        "the node {} of the {} (cluster.database) shares its data directory (cluster.files): set it to "
        "shared here too, and use that directory, or set it nowhere",
        other.name, address.name);
  }
  if (!shares || has_marker(files.data_directory, other)) return {};
  return fmt::format(
      "the data directory {} is not shared with the node {}, which runs: its marker {} is missing or "
      "another one. Mount the same file system at both, and name the directory on it with --data-dir, or "
      "remove cluster.files everywhere",
      files.data_directory.string(), other.name, marker_of(files.data_directory, other.name).string());
}

}  // namespace

void find_nodes(Connection& connection, const Address& address, const NodeFiles& files) {
  AGW_ASSERT(!files.node.empty());
  const auto nodes = entered_nodes(connection);
  for (const auto& node : nodes) {
    if (node.name == files.node && !files.data_directory.empty()) {
      replace_file(marker_of(files.data_directory, node.name), node.id + "\n", 0600);
    }
  }
  for (const auto& node : nodes) {
    if (node.name == files.node) continue;
    const auto problem = problem_with(node, address, files);
    if (problem.empty()) continue;
    connection.prepare("DELETE FROM gateway_owner WHERE node = :node").bind(":node", files.node).run();
    throw StartError(ExitStatus::failure, problem);
  }
}

}  // namespace agw::postgres
