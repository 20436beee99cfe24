#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/client.hpp"
#include "cli/commands.hpp"
#include "features/access/token.hpp"
#include "io/lock_file.hpp"

namespace agw::cli {

namespace {

struct TokenOptions {
  std::optional<std::string> data_dir;
};

Task<int> warn_where_refused(const FoundGateway& gateway) {
  if (!co_await Client(gateway).is_let_in()) {
    std::cerr << "The gateway that runs does not take it: it was started without a token (--no-token or auth: none), "
                 "or before this one was made.\n";
  }
  co_return 0;
}

int show(const TokenOptions& options) {
  const auto directory = data_directory(options.data_dir);
  const auto token = Token::load(directory);
  if (!token) {
    throw StartError(ExitStatus::failure,
                     fmt::format("there is no token in {}: `agw serve` makes it on its first start, "
                                 "but for --no-token and auth: none",
                                 directory.string()));
  }
  std::cout << token->secret() << '\n' << std::flush;
  if (!find_running_gateway(directory)) return 0;
  Loop loop;
  const auto gateway = find_gateway(options.data_dir);
  return run(loop, warn_where_refused(gateway));
}

}  // namespace

Action token_show_command(Arguments& arguments) {
  auto options = std::make_shared<TokenOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return show(*options); };
}

}  // namespace agw::cli
