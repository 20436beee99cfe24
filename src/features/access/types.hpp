#pragma once

#include <string>
#include <string_view>

#include "base/json/described.hpp"

namespace agw {

/// What a request to pair without a code is refused with.
inline constexpr std::string_view otp_required = "otp field required";

/// `GET /pair/refresh`: what a new device is told, by eye or by QR code.
struct PairingCode {
  std::string code;  ///< six digits, good for one device
  Timestamp expiresAt;
};
const Description& describe(Tag<PairingCode>);

/// The query of `GET /pair/refresh`.
struct PairingQuery {
  bool brief = false;
};
const Description& describe(Tag<PairingQuery>);

/// The body of `POST /pair`.
struct PairingRequest {
  std::string otp;
};
const Description& describe(Tag<PairingRequest>);

/// Published when another token voids the one before it.
struct TokenReplaced {
  Timestamp replaced_at{};
};
const Description& describe(Tag<TokenReplaced>);

/// What the new device gets.
struct PairedDevice {
  std::string token;  ///< the gateway's own
};
const Description& describe(Tag<PairedDevice>);

}  // namespace agw
