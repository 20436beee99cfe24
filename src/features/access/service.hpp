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

/// Authenticates clients: those with the token, and new devices with a pairing code. Without a token, it rejects
/// everyone.
class Access : public Authenticator {
public:
  /// `token` is the one in `data_directory`; nullopt if there is none.
  Access(Loop& loop, BlockingPool& blocking, Hub& hub, const Clock& clock, std::filesystem::path data_directory,
         std::optional<Token> token);

  bool accepts(std::string_view token) const override { return token_ && token_->matches(token); }
  bool configured() const override { return token_.has_value(); }

  /// An identifier of the token that does not reveal it and changes with it. Empty without a token.
  std::string token_id() const;

  /// For a node of a cluster, before it serves: codes and wrong guesses are then shared by all nodes.
  void share_pairing(Database& database) { shared_pairing_.emplace(database); }

  /// Creates a code for one new device; invalidates the previous code.
  Task<PairingCode> new_code(PairingQuery query = {});
  /// An example of `new_code`'s result, without creating a code.
  PairingCode sample_code(PairingQuery query = {}) const;
  /// Returns error 429 during a lockout after too many wrong codes, else nullopt.
  std::optional<ApiError> lockout() const;
  /// Returns the token for a right code. Throws TooManyRequests, Unauthorized `Invalid or expired code`.
  Task<PairedDevice> pair(std::string code);

  /// Makes SIGUSR1 reload the token file. A different token invalidates the old one and the pairing code, and
  /// TokenReplaced is published. A node also notifies the others, which may share the file. In addition it checks the
  /// file every few seconds, because a process on another host may replace the file and cannot send a signal.
  void start();
  Task<> stop();
  /// Called when another node has a new token.
  Task<> follow_token();

private:
  Task<> follow_signals();
  Task<> follow_file();
  Task<bool> reload_token();
  Task<Pairing::Verdict> judge(const std::string& code);
  void replace(Token token);
  Task<> notify_other_nodes();

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
