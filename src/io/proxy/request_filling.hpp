#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/http/head.hpp"
#include "io/proxy/proxy_request.hpp"

namespace agw {

/// The stand-in that a program has, and the secret to replace it.
struct Filling {
  std::string stand_in;  ///< consists of letters, digits, `-` and `_`
  std::string value;
};

/// Whether secrets may be filled into a head that a program sent through TLS to `target`: its Host must be that of the
/// connection, its target a path, and its method not one that the server echoes (TRACE).
bool may_be_filled(const Head& head, const HostPort& target);

/// Whether `raw`, a head accepted by RequestParser, contains `stand_in` in a place where `filled` replaces it.
bool holds_stand_in(std::string_view raw, std::string_view stand_in);

/// Returns `raw` with each stand-in replaced: in the target (percent-encoded), in values of fields, and in the user and
/// password of `Authorization: Basic`. Names of fields, and Host, are not changed.
/// Example: src/io/proxy/request_filling_test.cpp: RequestFilling.ReplacesStandInsInTheHead
std::string filled(std::string_view raw, const std::vector<Filling>& fillings);

/// Whether a field's value may contain the text: no line ends or other control characters (RFC 9110, 5.5).
bool fits_in_head(std::string_view value);

}  // namespace agw
