#pragma once

#include <filesystem>
#include <memory>

#include "api/exchange.hpp"
#include "api/request.hpp"
#include "features/apps/file_part.hpp"
#include "io/blocking.hpp"
#include "io/descriptor.hpp"

namespace agw {

/// Serves the files of a static app: what lies beneath its directory, wherever symlinks say they lead, without names
/// that begin with a dot and without what is private.
class StaticFiles {
public:
  explicit StaticFiles(BlockingPool& blocking) : blocking_(blocking) {}

  /// Answers with the file at the request's rest of the path, or the part of it that is asked for, in a directory with
  /// its `index.html`. `root` is resolved. Throws NotFound `file not found`.
  Task<> serve(Request& request, Exchange& exchange, std::filesystem::path root);

private:
  Task<bool> send(Exchange& exchange, std::shared_ptr<const Descriptor> file, FilePart part);

  BlockingPool& blocking_;
};

}  // namespace agw
