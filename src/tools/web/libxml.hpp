#pragma once

#include <libxml/HTMLparser.h>

#include <string>

namespace agw {

/// libxml2's functions for HTML, loaded at run time: linking it would load 30 MB of Unicode tables at every start.
/// Include this in html.cpp only.
struct LibXml {
  decltype(&::htmlCreatePushParserCtxt) create_parser = nullptr;
  decltype(&::htmlCtxtUseOptions) use_options = nullptr;
  decltype(&::htmlParseChunk) parse_chunk = nullptr;
  decltype(&::htmlFreeParserCtxt) free_parser = nullptr;
  decltype(&::xmlStopParser) stop_parser = nullptr;

  std::string error;  ///< why the library is unavailable, and what to do; empty on success

  /// Returns the library. The first call loads it; it stays loaded until the process ends. Thread-safe.
  static const LibXml& get();
};

}  // namespace agw
