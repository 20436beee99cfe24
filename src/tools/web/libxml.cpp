#include "tools/web/libxml.hpp"

#include "base/dynamic_library.hpp"

namespace agw {

namespace {

LibXml load() {
  LibXml xml;
  DynamicLibrary library("libxml2.so.2", "libxml2");
  library.find("htmlCreatePushParserCtxt", xml.create_parser);
  library.find("htmlCtxtUseOptions", xml.use_options);
  library.find("htmlParseChunk", xml.parse_chunk);
  library.find("htmlFreeParserCtxt", xml.free_parser);
  library.find("xmlStopParser", xml.stop_parser);
  decltype(&::xmlInitParser) initialize = nullptr;
  library.find("xmlInitParser", initialize);
  xml.error = library.problem();
  if (xml.error.empty()) initialize();
  return xml;
}

}  // namespace

const LibXml& LibXml::get() {
  static const LibXml xml = load();
  return xml;
}

}  // namespace agw
