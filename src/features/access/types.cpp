#include "features/access/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_STRUCT(PairingCode, (), (code, expiresAt))
constexpr auto rules(Tag<PairingCode>) {
  return std::tuple{RuleFor<&PairingCode::code>{{.about = "six digits, good for one device"}}};
}
const Description& describe(Tag<PairingCode>) { return description_of<PairingCode>("PairingCode"); }

BOOST_DESCRIBE_STRUCT(PairingQuery, (), (brief))
constexpr auto rules(Tag<PairingQuery>) {
  return std::tuple{RuleFor<&PairingQuery::brief>{{.about = "valid for a minute instead of ten", .has_default = true}}};
}
const Description& describe(Tag<PairingQuery>) { return description_of<PairingQuery>("PairingQuery"); }

BOOST_DESCRIBE_STRUCT(PairingRequest, (), (otp))
constexpr auto rules(Tag<PairingRequest>) {
  return std::tuple{RuleFor<&PairingRequest::otp>{
      {.about = "the code that a paired device shows", .missing = otp_required, .wrong_type = otp_required}}};
}
const Description& describe(Tag<PairingRequest>) { return description_of<PairingRequest>("PairingRequest"); }

BOOST_DESCRIBE_STRUCT(TokenReplaced, (), (replaced_at))
const Description& describe(Tag<TokenReplaced>) { return description_of<TokenReplaced>("TokenReplaced"); }

BOOST_DESCRIBE_STRUCT(PairedDevice, (), (token))
constexpr auto rules(Tag<PairedDevice>) {
  return std::tuple{RuleFor<&PairedDevice::token>{{.about = "the long-lived bearer token"}}};
}
const Description& describe(Tag<PairedDevice>) { return description_of<PairedDevice>("PairedDevice"); }

}  // namespace agw
