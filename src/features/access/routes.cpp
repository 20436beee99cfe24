#include "features/access/routes.hpp"

namespace agw {

namespace {

constexpr std::size_t pairing_body_limit = 1024;

}  // namespace

Routes AccessRoutes::routes() {
  return {
      get("/pair/refresh", "Make a one-time code that pairs a new device", this, &AccessRoutes::refresh)
          .query<PairingWish>()
          .answers<PairingCode>()
          .fails_with({400, 501})
          .takes_part_in_pairing(),
      post("/pair", "Pair a new device: its code for the token", this, &AccessRoutes::pair)
          .body<PairingRequest>()
          .answers<PairedDevice>()
          .fails_with({400, 401, 413, 429, 501})
          .needs_no_token()
          .takes_part_in_pairing()
          .limits_body(pairing_body_limit)
          .refuses_when([this] { return access_.lockout(); }),
  };
}

Task<Answer> AccessRoutes::refresh(Request& request) {
  // A look at the fields must not void the code that somebody is just typing.
  const auto wish = request.query<PairingWish>();
  co_return Answer::of(request.head ? access_.sample_code(wish) : access_.new_code(wish));
}

Task<Answer> AccessRoutes::pair(Request& request) {
  // Others may have guessed wrong while this body arrived.
  if (const auto lockout = access_.lockout()) throw ApiError(*lockout);
  if (request.content.empty()) throw BadRequest(std::string(otp_required));
  co_return Answer::of(access_.pair(request.body<PairingRequest>().otp));
}

}  // namespace agw
