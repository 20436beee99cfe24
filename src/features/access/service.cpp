#include "features/access/service.hpp"

#include <csignal>
#include <ctime>
#include <exception>

#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/digest.hpp"
#include "base/log.hpp"
#include "features/events/hub.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t token_id_digits = 32;
constexpr auto token_check_interval = 3s;

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

Task<PairingCode> Access::new_code(PairingQuery query) {
  const auto valid_for = validity(query);
  std::string code;
  if (shared_pairing_)
    code = co_await shared_pairing_->new_code(valid_for);
  else
    code = pairing_.new_code(since_boot(), valid_for);
  co_return PairingCode{.code = std::move(code), .expiresAt = clock_.now() + valid_for};
}

PairingCode Access::sample_code(PairingQuery query) const {
  return {.code = "000000", .expiresAt = clock_.now() + validity(query)};
}

std::optional<ApiError> Access::lockout() const {
  if (pairing_.locked(since_boot())) return too_many_attempts();
  return std::nullopt;
}

/// A node also counts its own wrong codes in memory, because `lockout` is called before the body is read.
Task<Pairing::Verdict> Access::judge(const std::string& code) {
  if (!shared_pairing_) co_return pairing_.judge(code, since_boot());
  const auto verdict = co_await shared_pairing_->judge(code);
  if (verdict == Pairing::Verdict::wrong) pairing_.judge(code, since_boot());
  if (verdict == Pairing::Verdict::right) pairing_ = {};
  co_return verdict;
}

Task<PairedDevice> Access::pair(std::string code) {
  switch (co_await judge(code)) {
    case Pairing::Verdict::locked:
      throw too_many_attempts();
    case Pairing::Verdict::wrong:
      throw Unauthorized("Invalid or expired code");
    case Pairing::Verdict::right:
      break;
  }
  // Without a token, no request is about pairing (the gate answers 501).
  AGW_ASSERT(token_);
  log::info("a device was paired");
  co_return PairedDevice{token_->secret()};
}

void Access::start() {
  AGW_ASSERT(group_.size() == 0);
  signals_.add(SIGUSR1);
  group_.spawn(follow_signals());
  if (shared_pairing_ && token_) group_.spawn(follow_file());
}

Task<> Access::stop() {
  group_.cancel();
  co_await group_.join();
}

Task<> Access::follow_signals() {
  for (;;) {
    co_await signals_.async_wait(asio::use_awaitable);
    if (co_await reload_token() && shared_pairing_) group_.spawn(notify_other_nodes());
  }
}

/// Does not report an unusable file: the next start does.
Task<> Access::follow_file() {
  AGW_ASSERT(token_);
  AGW_ASSERT(shared_pairing_);
  StopSource never;
  for (;;) {
    co_await pause(never, token_check_interval);
    const bool is_new = co_await blocking_.run([directory = data_directory_, known = *token_] {
      try {
        const auto token = Token::load(directory);
        return token && !known.matches(token->secret());
      } catch (const std::exception&) {
        return false;
      }
    });
    if (is_new && co_await reload_token()) co_await notify_other_nodes();
  }
}

Task<> Access::follow_token() { co_await reload_token(); }

/// Returns whether the token is a new one.
Task<bool> Access::reload_token() {
  try {
    auto token = co_await blocking_.run([directory = data_directory_] { return Token::load(directory); });
    if (!token_ || !token) {
      log::warn("cannot reload the token, because its file is missing: nothing was changed");
      co_return false;
    }
    if (token_->matches(token->secret())) co_return false;
    replace(*std::move(token));
    co_return true;
  } catch (const std::exception& error) {
    log::error("the token is unchanged: {}", error.what());
  }
  co_return false;
}

void Access::replace(Token token) {
  AGW_ASSERT(token_);

  token_ = std::move(token);
  pairing_.void_code();

  log::info("the token was replaced: every device must be paired again");
  hub_.publish({.record = TokenReplaced{clock_.now()}});
}

Task<> Access::notify_other_nodes() {
  AGW_ASSERT(shared_pairing_);
  try {
    co_await shared_pairing_->token_replaced();
  } catch (const std::exception& error) {
    log::error("the pairing code is valid until it expires, and other nodes must start again to take the token: {}",
               error.what());
  }
}

}  // namespace agw
