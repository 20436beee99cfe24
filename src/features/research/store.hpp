#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/time/time.hpp"
#include "storage/connection.hpp"

namespace agw {

/// An asset before an iteration changed it.
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
  std::optional<std::string> thread_id{};  ///< no value before the thread exists
};

}  // namespace agw

/// The SQL of active iterations.
namespace agw::iteration_store {

void insert(Connection& connection, const InterruptedIteration& iteration);
/// Stores the current content of the asset.
void store_original(Connection& connection, const std::string& id, const AssetCopy& original);
void record_thread(Connection& connection, const std::string& id, const std::string& thread_id);
void remove(Connection& connection, const std::string& id);
std::vector<InterruptedIteration> all(Connection& connection);

}  // namespace agw::iteration_store
