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

/// What one file of a directory holds; the content's id is empty for a file that is not there.
struct KnownFile {
  std::string content_id;
  FileStamp stamp;
  bool operator==(const KnownFile&) const = default;
};

/// The directory of an extension as the gateway last left it or took it over.
struct KnownDirectory {
  std::uint64_t inode = 0;
  KnownFile config;
  KnownFile prompt;
  bool operator==(const KnownDirectory&) const = default;
};

/// By the extension's id.
using KnownDirectories = std::vector<std::pair<std::string, KnownDirectory>>;

/// What the disk has to do for a change of a record. Paths are relative to the data directory.
struct DiskStep {
  enum class Action { write, move };
  std::int64_t sequence = 0;
  std::string extension_id;
  Action action{};
  std::string directory;              ///< of a write, or what is moved
  std::string target;                 ///< where to
  std::uint64_t inode = 0;            ///< of what is moved; 0: unknown
  std::optional<ExtensionText> text;  ///< of a write; nothing: a later one tells
  std::string config_id;              ///< of a write
  std::string prompt_id;
};

}  // namespace agw

/// The SQL of the outbox. All throw DatabaseError.
namespace agw::outbox_store {

/// Puts the step behind all others and gives it its sequence. Texts of earlier writes of the extension are let go.
void add(Connection& connection, DiskStep& step);
/// Lets go of the extension's writes that are still to be done, and of what is known of its directory.
void forget(Connection& connection, std::string_view extension_id);
/// In order.
std::vector<DiskStep> steps(Connection& connection);
void remove(Connection& connection, std::int64_t sequence);

/// Nothing where the extension is gone meanwhile.
void know(Connection& connection, std::string_view extension_id, const KnownDirectory& directory);
/// Notes which directories are those of the extensions, before they are synced: what was known of their files stays.
/// Nothing where an extension is gone meanwhile.
void know_inodes(Connection& connection, const KnownDirectories& directories);
/// Calls `each` with all that are known.
void for_each_known(Connection& connection, const std::function<void(std::string id, KnownDirectory known)>& each);
/// 0 where it is unknown.
std::uint64_t known_inode(Connection& connection, std::string_view extension_id);

}  // namespace agw::outbox_store
