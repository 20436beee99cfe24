#pragma once

#include <filesystem>
#include <memory>

#include "api/proxy_stream.hpp"
#include "api/request.hpp"
#include "features/apps/file_part.hpp"
#include "io/files/descriptor.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// Serves the files of a static app: only those that are below its directory after resolving symlinks, and none that
/// are private or whose name begins with a dot.
class StaticFiles {
public:
  explicit StaticFiles(BlockingPool& blocking) : blocking_(blocking) {}

  /// Responds with the file, or the requested part of it, at the rest of the request's path; for a directory, with its
  /// `index.html`. `root` must be resolved. Throws NotFound `file not found`.
  Task<> serve(Request& request, ProxyStream& stream, std::filesystem::path root);

private:
  Task<bool> send(ProxyStream& stream, std::shared_ptr<const Descriptor> file, FilePart part);

  BlockingPool& blocking_;
};

}  // namespace agw
