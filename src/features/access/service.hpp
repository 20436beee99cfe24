#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/signal_set.hpp>

#include "api/authenticator.hpp"
#include "api/error.hpp"
#include "base/async/task_group.hpp"
#include "features/access/pairing.hpp"
#include "features/access/token.hpp"
#include "features/access/types.hpp"
#include "io/process/blocking.hpp"

namespace agw {

class Hub;

/// Who is let in: those who hold the token, and new devices that know a pairing code. Nobody where the gateway runs
/// without a token.
class Access : public Authenticator {
public:
  /// `token` is the one of `data_directory`, or nothing.
  Access(Loop& loop, BlockingPool& blocking, Hub& hub, const Clock& clock, std::filesystem::path data_directory,
         std::optional<Token> token);

  bool accepts(std::string_view token) const override { return token_ && token_->matches(token); }
  bool configured() const override { return token_.has_value(); }

  /// Stands for the token where others must not know it: changes when the token does. Empty without a token.
  std::string token_id() const;

  /// Makes a code for one new device; the code before it is void.
  PairingCode new_code(PairingQuery query = {});
  /// What a new code's answer looks like, without making one.
  PairingCode sample_code(PairingQuery query = {}) const;
  /// 429 while too many wrong codes came, else nothing.
  std::optional<ApiError> lockout() const;
  /// The token, for a right code. Throws TooManyRequests, Unauthorized `Invalid or expired code`.
  PairedDevice pair(std::string_view code);

  /// From now on SIGUSR1 makes it read the token file again. Another token in it voids the old one and the pairing
  /// code, and TokenReplaced is published.
  void start();
  Task<> stop();

private:
  Task<> follow_signals();
  Task<> read_token_again();
  void replace(Token token);

  BlockingPool& blocking_;
  Hub& hub_;
  const Clock& clock_;
  std::filesystem::path data_directory_;
  std::optional<Token> token_;
  Pairing pairing_;
  asio::signal_set signals_;
  TaskGroup group_;
};

}  // namespace agw
