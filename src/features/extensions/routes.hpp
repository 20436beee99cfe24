#pragma once

#include "api/route.hpp"

namespace agw {

class ExtensionFiles;
class Extensions;

/// The endpoints of extensions and of the schemas of their definitions.
Routes extension_routes(Extensions& extensions);

/// The endpoints of the files that extensions have on disk.
Routes extension_file_routes(Extensions& extensions, ExtensionFiles& files);

}  // namespace agw
