#include <termios.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <memory>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/commands.hpp"
#include "cli/find_gateway.hpp"
#include "cli/terminal.hpp"
#include "features/secrets/service.hpp"

namespace agw::cli {

namespace {

struct SecretOptions {
  std::optional<std::string> data_dir;
  std::string name;
  bool json = false;
};

/// Keeps the terminal from showing what is typed.
class Unseen {
public:
  Unseen() {
    ::tcgetattr(STDIN_FILENO, &before_);
    auto silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  ~Unseen() { ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

private:
  termios before_{};
};

std::string ask_for_value(const std::string& name) {
  std::string value;
  {
    // Before the question: what is typed once that stands there must not be shown, nor lost.
    const Unseen unseen;
    std::cerr << "Value of " << name << " (it is not shown): " << std::flush;
    std::getline(std::cin, value);
  }
  std::cerr << '\n';
  return value;
}

/// A pipe's whole text, without the line feed that `echo` adds.
std::string piped_value() {
  std::string value{std::istreambuf_iterator<char>(std::cin), {}};
  if (value.ends_with('\n')) value.pop_back();
  return value;
}

Secrets secrets_of(const SecretOptions& options) { return Secrets(data_directory(options.data_dir)); }

int set(const SecretOptions& options) {
  const auto secrets = secrets_of(options);
  secrets.set(options.name, terminal_at(STDIN_FILENO).present ? ask_for_value(options.name) : piped_value());
  return 0;
}

int list(const SecretOptions& options) {
  const auto names = secrets_of(options).names();
  if (options.json) {
    std::cout << to_json(json::array(names.begin(), names.end())) << '\n';
    return 0;
  }
  for (const auto& name : names) std::cout << name << '\n';
  if (names.empty()) std::cerr << "There are no secrets.\n";
  return 0;
}

int remove(const SecretOptions& options) {
  if (secrets_of(options).remove(options.name)) return 0;
  throw StartError(ExitStatus::failure, "there is no secret " + options.name);
}

}  // namespace

Action secret_set_command(Arguments& arguments) {
  auto options = std::make_shared<SecretOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  arguments.word("name", options->name, "What ${secret:NAME} calls it; the value is read from stdin or asked for");
  return [options] { return set(*options); };
}

Action secret_list_command(Arguments& arguments) {
  auto options = std::make_shared<SecretOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  arguments.flag("--json", options->json, "Print a JSON array");
  return [options] { return list(*options); };
}

Action secret_remove_command(Arguments& arguments) {
  auto options = std::make_shared<SecretOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  arguments.word("name", options->name, "Which one");
  return [options] { return remove(*options); };
}

}  // namespace agw::cli
