#pragma once

#include "api/route.hpp"

namespace agw {

class ExtensionFiles;
class Extensions;
class NameCheck;

/// The endpoints of extensions and of the schemas of their definitions.
Routes extension_routes(Extensions& extensions, const NameCheck& names);

/// The endpoints of the files that extensions have on disk.
Routes extension_file_routes(Extensions& extensions, ExtensionFiles& files);

}  // namespace agw
