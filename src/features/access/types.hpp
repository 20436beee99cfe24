#pragma once

#include <string>
#include <string_view>

#include "base/json/described.hpp"

namespace agw {

/// The error of a pairing request without a code.
inline constexpr std::string_view otp_required = "otp field required";

/// The response of `GET /pair/refresh`, for a new device: displayed as digits or as a QR code.
struct PairingCode {
  std::string code;  ///< six digits, valid for one device
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

/// Published when a different token replaces the previous one.
struct TokenReplaced {
  Timestamp replaced_at{};
};
const Description& describe(Tag<TokenReplaced>);

/// The response of `POST /pair`.
struct PairedDevice {
  std::string token;  ///< the gateway's own
};
const Description& describe(Tag<PairedDevice>);

}  // namespace agw
