#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/http/head.hpp"
#include "io/proxy/proxy_request.hpp"

namespace agw {

/// The stand-in that a program holds, and the secret that it stands for.
struct Filling {
  std::string stand_in;  ///< of letters, digits, `-` and `_`
  std::string value;
};

/// Whether a head that a program sent through TLS to `target` may get secrets: its Host is that of the connection, its
/// target is a path, and the server does not echo it by definition (TRACE).
bool may_be_filled(const Head& head, const HostPort& target);

/// Whether `raw`, a head that RequestParser accepts, holds `stand_in` where `filled` replaces it.
bool holds_stand_in(std::string_view raw, std::string_view stand_in);

/// `raw` with each stand-in replaced: in the target (percent-encoded), in values of fields, and in the user and
/// password of `Authorization: Basic`. Names of fields, and Host, stay as they are.
/// Example: src/io/proxy/request_filling_test.cpp: RequestFilling.ReplacesStandInsInTheHead
std::string filled(std::string_view raw, const std::vector<Filling>& fillings);

/// Whether a field's value may contain it: no line ends or other control characters (RFC 9110, 5.5).
bool fits_in_head(std::string_view value);

}  // namespace agw
