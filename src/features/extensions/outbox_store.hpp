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

/// The last known content of a file; the id is empty if there is no file.
struct KnownFile {
  std::string content_id;
  FileStamp stamp;
  bool operator==(const KnownFile&) const = default;
};

/// An extension's directory as the gateway last left it or took it over.
struct KnownDirectory {
  std::uint64_t inode = 0;
  KnownFile config;
  KnownFile prompt;
  bool operator==(const KnownDirectory&) const = default;
};

/// By the extension's id.
using KnownDirectories = std::vector<std::pair<std::string, KnownDirectory>>;

/// A change on disk that follows a change of a record. Paths are relative to the data directory.
struct DiskStep {
  enum class Action { write, move };
  std::int64_t sequence = 0;
  std::string extension_id;
  Action action{};
  std::string directory;              ///< of a write, or the source of a move
  std::string target;                 ///< of a move
  std::uint64_t inode = 0;            ///< of the directory to move; 0: unknown
  std::optional<ExtensionText> text;  ///< of a write; no value: a later write has it
  std::string config_id;              ///< of a write
  std::string prompt_id;
};

}  // namespace agw

/// The SQL of the outbox. All throw DatabaseError.
namespace agw::outbox_store {

/// Appends the step and sets its sequence number. Drops the texts of the extension's earlier writes.
void add(Connection& connection, DiskStep& step);
/// Drops the extension's pending writes, and the known state of its directory.
void forget(Connection& connection, std::string_view extension_id);
/// In order.
std::vector<DiskStep> steps(Connection& connection);
void remove(Connection& connection, std::int64_t sequence);

// Of nodes that share their directories, and so for databases of PostgreSQL.

/// Has the nodes hear `key`, see ExtensionOutbox::follow.
void tell(Connection& connection, std::string_view key);
/// The first time: what was known of the directories when they were this node's own.
void take_over_own(Connection& connection);

/// Does nothing if the extension was deleted in between.
void know(Connection& connection, std::string_view extension_id, const KnownDirectory& directory);
/// Records which directories belong to the extensions before they are synced; known states of files stay unchanged.
/// Skips extensions that were deleted in between.
void know_inodes(Connection& connection, const KnownDirectories& directories);
/// Calls `each` for every known directory.
void for_each_known(Connection& connection, const std::function<void(std::string id, KnownDirectory known)>& each);
/// 0 if unknown.
std::uint64_t known_inode(Connection& connection, std::string_view extension_id);

}  // namespace agw::outbox_store
