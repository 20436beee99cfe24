#pragma once

#include "api/route.hpp"
#include "features/filesystem/service.hpp"

namespace agw {

/// `/filesystem/ls` and `/filesystem/search`.
class FilesystemRoutes {
public:
  explicit FilesystemRoutes(Filesystem& filesystem) : filesystem_(filesystem) {}
  Routes routes();

private:
  Task<Answer> list(Request& request);
  Task<Answer> search(Request& request);

  Filesystem& filesystem_;
};

}  // namespace agw
