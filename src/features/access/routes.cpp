#include "api/route.hpp"
#include "features/access/service.hpp"

namespace agw {

namespace {

constexpr std::size_t pairing_body_limit = 1024;

Task<Response> refresh_pairing_code(Access& access, Request& request) {
  // A HEAD request must not invalidate a code that a person is typing.
  const auto query = request.query<PairingQuery>();
  if (request.head) co_return request.respond(access.sample_code(query));
  co_return request.respond(co_await access.new_code(query));
}

Task<Response> pair_device(Access& access, Request& request) {
  // A wrong guess by another client may have locked pairing while this body arrived.
  if (const auto lockout = access.lockout()) throw ApiError(*lockout);
  if (request.content.empty()) throw BadRequest(std::string(otp_required));
  co_return request.respond(co_await access.pair(request.body<PairingRequest>().otp));
}

}  // namespace

Routes pairing_routes(Access& access) {
  return {
      get("/pair/refresh", "Make a one-time code that pairs a new device", refresh_pairing_code, access)
          .query<PairingQuery>()
          .responds<PairingCode>()
          .fails_with({400, 501})
          .for_pairing(),
      post("/pair", "Pair a new device: its code for the token", pair_device, access)
          .body<PairingRequest>()
          .responds<PairedDevice>()
          .fails_with({400, 401, 413, 429, 501})
          .needs_no_token()
          .for_pairing()
          .limits_body(pairing_body_limit)
          .refuses_when([&access] { return access.lockout(); }),
  };
}

}  // namespace agw
