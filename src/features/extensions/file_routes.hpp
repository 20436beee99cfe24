#pragma once

#include "api/answer.hpp"
#include "api/route.hpp"

namespace agw {

class ExtensionFiles;
class Extensions;

/// The endpoints of what extensions have on disk.
class ExtensionFileRoutes {
public:
  ExtensionFileRoutes(Extensions& extensions, ExtensionFiles& files) : extensions_(extensions), files_(files) {}
  Routes routes();

private:
  Task<Answer> list(Request& request);
  Task<Answer> read(Request& request);
  Task<Answer> config(Request& request);
  Task<Answer> overwrite(Request& request);
  Task<Answer> reseed(Request& request);

  Extensions& extensions_;
  ExtensionFiles& files_;
};

}  // namespace agw
