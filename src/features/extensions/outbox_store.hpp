#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "features/extensions/extension_text.hpp"
#include "io/files/directory.hpp"
#include "storage/connection.hpp"

namespace agw {

/// The last known content of a file; `content_id` is empty if there is no file.
struct KnownFile {
  std::string content_id;
  FileStamp stamp;
  bool operator==(const KnownFile&) const = default;
};

/// An extension's directory as the gateway last wrote it or read it into the record.
struct KnownDirectory {
  std::uint64_t inode = 0;
  KnownFile config;
  KnownFile prompt;
  bool operator==(const KnownDirectory&) const = default;
};

/// Pairs of an extension's id and its directory.
using KnownDirectories = std::vector<std::pair<std::string, KnownDirectory>>;

/// A change on disk that a change of a record requires. Paths are relative to the data directory.
struct DiskStep {
  enum class Action { write, move };
  std::int64_t sequence = 0;
  std::string extension_id;
  Action action{};
  std::string directory;              ///< the directory to write, or the source of a move
  std::string target;                 ///< the target of a move
  std::uint64_t inode = 0;            ///< of the directory to move; 0: unknown
  std::optional<ExtensionText> text;  ///< the text to write; no value if a later write replaces it
  std::string config_id;              ///< the content ids of a write
  std::string prompt_id;
};

}  // namespace agw

/// The SQL of the outbox. All throw DatabaseError.
namespace agw::outbox_store {

/// Appends the step and sets its sequence number. Drops the texts of the extension's earlier writes.
void add(Connection& connection, DiskStep& step);
/// Drops the extension's pending writes, and the known state of its directory.
void forget(Connection& connection, std::string_view extension_id);
/// All steps, in order.
std::vector<DiskStep> steps(Connection& connection);
void remove(Connection& connection, std::int64_t sequence);

// For nodes that share their directories. PostgreSQL only.

/// Notifies all nodes of `key`, see ExtensionOutbox::follow.
void notify(Connection& connection, std::string_view key);
/// At the first call, makes the known states and steps of this node's own directories those of the shared directories.
void take_over_own(Connection& connection);

/// Stores the known state. Does nothing if the extension was deleted in between.
void store_known(Connection& connection, std::string_view extension_id, const KnownDirectory& directory);
/// Stores the inodes of the extensions' directories, before these are synced. Known states of files stay unchanged.
/// Skips extensions that were deleted in between.
void store_inodes(Connection& connection, const KnownDirectories& directories);
/// Calls `each` for every known directory.
void for_each_known(Connection& connection, const std::function<void(std::string id, KnownDirectory known)>& each);
/// 0 if unknown.
std::uint64_t known_inode(Connection& connection, std::string_view extension_id);

}  // namespace agw::outbox_store
