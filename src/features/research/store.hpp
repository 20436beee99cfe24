#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "storage/connection.hpp"

namespace agw {

/// An asset as it was before an iteration touched it.
struct AssetCopy {
  std::string bytes;
  mode_t mode = 0600;
};

/// An iteration that a kill interrupted.
struct InterruptedIteration {
  std::string id;
  std::string domain;
  std::string asset_path;
  std::optional<AssetCopy> original;
  Timestamp started_at{};
  std::optional<std::string> thread_id{};  ///< once it is made
};

}  // namespace agw

/// The SQL of iterations under way.
namespace agw::iteration_store {

void insert(Connection& connection, const InterruptedIteration& iteration);
/// Keeps the asset as it is now.
void keep_original(Connection& connection, const std::string& id, const AssetCopy& original);
void note_thread(Connection& connection, const std::string& id, const std::string& thread_id);
void remove(Connection& connection, const std::string& id);
std::vector<InterruptedIteration> all(Connection& connection);

}  // namespace agw::iteration_store
