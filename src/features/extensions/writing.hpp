#pragma once

#include <vector>

#include "features/extensions/outbox.hpp"
#include "features/extensions/store.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// A record after a write; the last version of a deleted one.
struct ExtensionWrite {
  extension_store::Row row;
  ExtensionAction action{};
};

/// The changes of one transaction to records, and the disk steps that they require.
struct ExtensionWrites {
  std::vector<ExtensionWrite> records;
  std::vector<DiskStep> steps;

  void add(ExtensionWrites more);
};

/// Throws NotFound `extension not found`.
extension_store::Row require_row(Connection& connection, std::string_view id);

/// A new record from a POST or a directory.
Extension new_extension(std::string id, NewExtension wanted, Timestamp now);

/// Throws Conflict `changed meanwhile` if `if_updated_at` belongs to another version of the record.
void require_version(const Extension& extension, const ExtensionChange& change);

/// The changed record, with its old `updated_at`.
Extension changed(Extension extension, const ExtensionChange& change);

/// Throws Conflict `extension name already exists` (with `name`).
ExtensionWrites write_new(Connection& connection, const Extension& made);

/// Applies the change to the record of `row`. Throws Forbidden for a built-in (except for `enabled`) and for disabling
/// an essential one; Conflict if the name is taken, and `changed meanwhile` if `if_updated_at` belongs to another
/// version. Writes nothing if nothing changes.
ExtensionWrites write_change(Connection& connection, const extension_store::Row& row, const ExtensionChange& change,
                             Timestamp now, ExtensionOutbox::Rewrite rewrite);

/// Deletes the record. Throws NotFound, and Forbidden for an essential one.
ExtensionWrites write_removal(Connection& connection, std::string_view id);

}  // namespace agw
