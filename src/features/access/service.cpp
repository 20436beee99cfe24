#include "features/access/service.hpp"

#include <csignal>
#include <ctime>
#include <exception>

#include <boost/asio/use_awaitable.hpp>

#include "base/digest.hpp"
#include "base/log.hpp"
#include "features/events/hub.hpp"

namespace agw {

namespace {

constexpr std::size_t token_id_digits = 32;

Pairing::Moment since_boot() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::duration_cast<Pairing::Moment>(std::chrono::seconds(time.tv_sec) +
                                                     std::chrono::nanoseconds(time.tv_nsec));
}

std::chrono::minutes validity(PairingQuery query) { return query.brief ? Pairing::brief_validity : Pairing::validity; }

TooManyRequests too_many_attempts() { return TooManyRequests("Too many attempts. Wait a minute and try again."); }

}  // namespace

Access::Access(Loop& loop, BlockingPool& blocking, Hub& hub, const Clock& clock, std::filesystem::path data_directory,
               std::optional<Token> token)
    : blocking_(blocking),
      hub_(hub),
      clock_(clock),
      data_directory_(std::move(data_directory)),
      token_(std::move(token)),
      signals_(loop),
      group_(loop) {}

std::string Access::token_id() const {
  return token_ ? to_hex(sha256("token id " + token_->secret())).substr(0, token_id_digits) : "";
}

PairingCode Access::new_code(PairingQuery query) {
  return {.code = pairing_.new_code(since_boot(), validity(query)), .expiresAt = clock_.now() + validity(query)};
}

PairingCode Access::sample_code(PairingQuery query) const {
  return {.code = "000000", .expiresAt = clock_.now() + validity(query)};
}

std::optional<ApiError> Access::lockout() const {
  if (pairing_.locked(since_boot())) return too_many_attempts();
  return std::nullopt;
}

PairedDevice Access::pair(std::string_view code) {
  switch (pairing_.judge(code, since_boot())) {
    case Pairing::Verdict::locked:
      throw too_many_attempts();
    case Pairing::Verdict::wrong:
      throw Unauthorized("Invalid or expired code");
    case Pairing::Verdict::right:
      break;
  }
  log::info("a device was paired");
  return {token_->secret()};
}

void Access::start() {
  signals_.add(SIGUSR1);
  group_.spawn(follow_signals());
}

Task<> Access::stop() {
  group_.cancel();
  co_await group_.join();
}

Task<> Access::follow_signals() {
  for (;;) {
    co_await signals_.async_wait(asio::use_awaitable);
    co_await read_token_again();
  }
}

Task<> Access::read_token_again() {
  try {
    auto token = co_await blocking_.run([directory = data_directory_] { return Token::load(directory); });
    if (!token_ || !token) co_return log::warn("asked to reload the token, but there is none: nothing was changed");
    if (!token_->matches(token->secret())) replace(*std::move(token));
  } catch (const std::exception& error) {
    log::error("the token is unchanged: {}", error.what());
  }
}

void Access::replace(Token token) {
  token_ = std::move(token);
  pairing_.void_code();
  log::info("the token was replaced: every device must be paired again");
  hub_.publish({.record = TokenReplaced{clock_.now()}});
}

}  // namespace agw
