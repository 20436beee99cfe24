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

/// Says so where a gateway runs that ignores the stored token.
int warn_of_gateway_without_token(const TokenOptions& options) {
  const auto gateway = find_gateway(options.data_dir);
  return run_on_loop([&](Loop&) -> Task<int> {
    if (co_await Client(gateway).is_without_token()) {
      std::cerr << "The running gateway was started without a token and ignores this one.\n";
    }
    co_return 0;
  });
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
  std::cout << token->secret() << std::endl;
  return find_running_gateway(directory) ? warn_of_gateway_without_token(options) : 0;
}

}  // namespace

Action token_show_command(Arguments& arguments) {
  auto options = std::make_shared<TokenOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  return [options] { return show(*options); };
}

}  // namespace agw::cli
