#pragma once

#include <string>

#include "io/http/curl.hpp"

namespace agw {

/// Which addresses libcurl may connect to.
struct AddressRule {
  bool public_only = false;  ///< those of the public internet
  bool no_metadata = false;  ///< not those of a cloud's metadata service
};

/// Opens a socket for libcurl that child processes do not inherit. CURL_SOCKET_BAD if the rule refuses the address;
/// then `refused` is that address.
curl_socket_t open_checked_socket(const curl_sockaddr& address, const AddressRule& rule, std::string& refused);

/// Why that address was refused, for people.
std::string refusal_text(const std::string& refused, const AddressRule& rule);

}  // namespace agw
