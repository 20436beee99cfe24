#pragma once

#include <string>

#include "io/http/curl.hpp"

namespace agw {

/// Restricts the addresses that libcurl may connect to.
struct AddressRule {
  bool public_only = false;  ///< only addresses of the public internet
  bool no_metadata = false;  ///< no addresses of cloud metadata services
};

/// Opens a socket for libcurl that child processes do not inherit. Returns CURL_SOCKET_BAD and sets `refused` if the
/// rule refuses the address.
curl_socket_t open_checked_socket(const curl_sockaddr& address, const AddressRule& rule, std::string& refused);

/// The reason for the refusal of the address `refused`, for people.
std::string refusal_text(const std::string& refused, const AddressRule& rule);

}  // namespace agw
