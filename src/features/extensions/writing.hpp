#pragma once

#include <vector>

#include "features/extensions/outbox.hpp"
#include "features/extensions/store.hpp"
#include "features/extensions/types.hpp"

namespace agw {

/// A record as a write left it; a deleted one as it last was.
struct ExtensionWrite {
  extension_store::Row row;
  ExtensionAction action{};
};

/// What one transaction has done to records, and what the disk has to do for it.
struct ExtensionWrites {
  std::vector<ExtensionWrite> records;
  std::vector<DiskStep> steps;

  void add(ExtensionWrites more);
};

/// Throws NotFound `extension not found`.
extension_store::Row require_row(Connection& connection, std::string_view id);

/// The record that a POST or a directory asks for.
Extension new_extension(std::string id, NewExtension wanted, Timestamp now);

/// The record as the change would leave it, but for the time.
Extension changed(Extension extension, const ExtensionChange& change);

/// Throws Conflict `extension name already exists` (with `name`).
ExtensionWrites write_new(Connection& connection, const Extension& made);

/// Makes the change to the record of `row`. Throws Forbidden for a built-in (all but `enabled`) and for disabling an
/// essential one, Conflict for a name that is taken and, where `if_updated_at` is another version's, `changed
/// meanwhile`. A change of nothing writes nothing.
ExtensionWrites write_change(Connection& connection, const extension_store::Row& row, const ExtensionChange& change,
                             Timestamp now, ExtensionOutbox::Rewrite rewrite);

/// Throws NotFound, and Forbidden for an essential one.
ExtensionWrites write_removal(Connection& connection, std::string_view id);

}  // namespace agw
