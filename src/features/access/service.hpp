#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/signal_set.hpp>

#include "api/authenticator.hpp"
#include "api/error.hpp"
#include "base/async/task_group.hpp"
#include "features/access/pairing.hpp"
#include "features/access/shared_pairing.hpp"
#include "features/access/token.hpp"
#include "features/access/types.hpp"
#include "io/process/blocking.hpp"

namespace agw {

struct Route;
class Hub;

/// Authenticates clients: those with the token, and new devices with a pairing code. Without a token, it accepts
/// nobody.
class Access : public Authenticator {
public:
  /// `token` is the one in `data_directory`, or no value.
  Access(Loop& loop, BlockingPool& blocking, Hub& hub, const Clock& clock, std::filesystem::path data_directory,
         std::optional<Token> token);

  bool accepts(std::string_view token) const override { return token_ && token_->matches(token); }
  bool configured() const override { return token_.has_value(); }

  /// Stands for the token where others must not know it: changes when the token does. Empty without a token.
  std::string token_id() const;

  /// Of a node of a cluster, before it serves: from now on, codes and wrong guesses are those of all nodes.
  void share_pairing(Database& database) { shared_pairing_.emplace(database); }

  /// Makes a code for one new device; the code before it is void.
  Task<PairingCode> new_code(PairingQuery query = {});
  /// An example of `new_code`'s result, without creating a code.
  PairingCode sample_code(PairingQuery query = {}) const;
  /// 429 during a lockout after too many wrong codes, else no value.
  std::optional<ApiError> lockout() const;
  /// Returns the token for a right code. Throws TooManyRequests, Unauthorized `Invalid or expired code`.
  Task<PairedDevice> pair(std::string code);

  /// From now on, SIGUSR1 reloads the token file. A different token invalidates the old one and the pairing code, and
  /// TokenReplaced is published. A node has the others look at the file, too, which may be the same; and it looks every
  /// few seconds by itself, as the file may be replaced at another host, whose processes cannot signal it.
  void start();
  Task<> stop();
  /// Another node has a new token.
  Task<> follow_token();

private:
  Task<> follow_signals();
  Task<> follow_file();
  Task<bool> read_token_again();
  Task<Pairing::Verdict> judge(const std::string& code);
  void replace(Token token);
  Task<> tell_other_nodes();

  BlockingPool& blocking_;
  Hub& hub_;
  const Clock& clock_;
  std::filesystem::path data_directory_;
  std::optional<Token> token_;
  Pairing pairing_;
  std::optional<SharedPairing> shared_pairing_;
  asio::signal_set signals_;
  TaskGroup group_;
};

/// The endpoints that pair devices, `/pair` and `/pair/refresh`.
std::vector<Route> pairing_routes(Access& access);

}  // namespace agw
