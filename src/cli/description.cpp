#include "cli/description.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace agw::cli {

std::vector<CommandDescription> described(std::span<const Command> commands) {
  std::vector<CommandDescription> descriptions;
  for (const auto& command : commands) {
    CommandDescription description{.name = std::string(command.name),
                                   .about = std::string(command.about),
                                   .is_group = !command.declare,
                                   .arguments = {}};
    if (command.declare) {
      CLI::App app;
      Arguments arguments(app);
      command.declare(arguments);
      description.arguments = arguments.declared();
    }
    descriptions.push_back(std::move(description));
  }
  return descriptions;
}

std::vector<const CommandDescription*> below(const std::vector<CommandDescription>& commands, std::string_view group) {
  std::vector<const CommandDescription*> found;
  for (const auto& command : commands) {
    const std::string_view name = command.name;
    const auto space = name.rfind(' ');
    if ((space == name.npos ? "" : name.substr(0, space)) == group) found.push_back(&command);
  }
  return found;
}

std::string_view last_word(std::string_view name) { return name.substr(name.rfind(' ') + 1); }

}  // namespace agw::cli
