#include <iostream>
#include <memory>

#include "cli/command_table.hpp"
#include "cli/description.hpp"

namespace agw::cli {

namespace {

/// The table of commands, created on demand because it contains the commands that print it.
std::vector<CommandDescription> description() {
  return described(commands([](const ServeOptions&) { return 0; }));
}

int complete(const std::string& shell) {
  const auto table = description();
  std::cout << (shell == "bash"  ? bash_completion(table)
                : shell == "zsh" ? zsh_completion(table)
                                 : fish_completion(table));
  return 0;
}

}  // namespace

Action completion_command(Arguments& arguments) {
  auto shell = std::make_shared<std::string>();
  arguments.word("shell", *shell, {"bash", "zsh", "fish"}, "The shell");
  return [shell] { return complete(*shell); };
}

Action manual_command(Arguments&) {
  return [] {
    std::cout << manual_page(description());
    return 0;
  };
}

}  // namespace agw::cli
