#include "tools/libxml.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

namespace agw {

namespace {

constexpr auto library_name = "libxml2.so.2";

template <class Function>
void find(void* library, const char* name, Function& function, std::string& error) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function && error.empty()) error = fmt::format("{} has no {}: install the package libxml2", library_name, name);
}

LibXml load() {
  LibXml xml;
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    xml.error = fmt::format("{} cannot be loaded, install the package libxml2 ({})", library_name, dlerror());
    return xml;
  }
  find(library, "htmlCreatePushParserCtxt", xml.create_parser, xml.error);
  find(library, "htmlCtxtUseOptions", xml.use_options, xml.error);
  find(library, "htmlParseChunk", xml.parse_chunk, xml.error);
  find(library, "htmlFreeParserCtxt", xml.free_parser, xml.error);
  find(library, "xmlStopParser", xml.stop_parser, xml.error);
  decltype(&::xmlInitParser) initialize = nullptr;
  find(library, "xmlInitParser", initialize, xml.error);
  if (xml.error.empty()) initialize();
  return xml;
}

}  // namespace

const LibXml& LibXml::get() {
  static const LibXml xml = load();
  return xml;
}

}  // namespace agw
