#pragma once

#include <filesystem>

#include "api/exchange.hpp"
#include "api/request.hpp"
#include "io/blocking.hpp"

namespace agw {

/// Serves the files of a static app: what lies beneath its directory, wherever symlinks say they lead, without names
/// that begin with a dot and without what is private.
class StaticFiles {
public:
  explicit StaticFiles(BlockingPool& blocking) : blocking_(blocking) {}

  /// Answers with the file at the request's rest of the path, in a directory with its `index.html`. `root` is resolved.
  /// Throws NotFound `file not found`, ApiError 405 `method not allowed`.
  Task<> serve(Request& request, Exchange& exchange, std::filesystem::path root);

private:
  BlockingPool& blocking_;
};

}  // namespace agw
