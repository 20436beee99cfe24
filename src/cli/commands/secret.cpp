#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/command_table.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/line_input.hpp"
#include "config/data_directory.hpp"
#include "features/secrets/service.hpp"

namespace agw::cli {

namespace {

struct SecretOptions {
  std::optional<std::string> data_dir;
  std::string name;
  bool json = false;
};

Secrets secrets_of(const SecretOptions& options) { return Secrets(data_directory(options.data_dir)); }

/// Reports an invalid name as a wrong argument.
void require_name(const std::string& name) {
  try {
    Secrets::check_name(name);
  } catch (const SecretError& error) {
    throw StartError(ExitStatus::usage, error.what());
  }
}

bool has_data_directory(const SecretOptions& options) {
  return std::filesystem::exists(data_directory(options.data_dir));
}

int set(const SecretOptions& options) {
  // A secret may be set before the first start, which creates the directory in the same way.
  if (!has_data_directory(options))
    prepare_data_directory(find_data_directory(options.data_dir, process_environment()));
  const auto secrets = secrets_of(options);
  require_name(options.name);
  (void)secrets.names();  // reports problems with the file before the prompt
  const auto value = read_hidden("Value of " + options.name + " (it is not shown): ");
  if (value.empty()) throw StartError(ExitStatus::usage, "the value is empty");
  secrets.set(options.name, value);
  return 0;
}

int list(const SecretOptions& options) {
  const auto names = has_data_directory(options) ? secrets_of(options).names() : std::vector<std::string>();
  if (options.json) {
    print_json(json::array(names.begin(), names.end()));
    return 0;
  }
  for (const auto& name : names) std::cout << name << '\n';
  if (names.empty()) std::cerr << "There are no secrets.\n";
  return 0;
}

int remove(const SecretOptions& options) {
  const auto secrets = secrets_of(options);
  if (has_data_directory(options)) {
    require_name(options.name);
    if (secrets.remove(options.name)) return 0;
  }
  throw StartError(ExitStatus::failure, "there is no secret " + options.name);
}

}  // namespace

Action secret_set_command(Arguments& arguments) {
  auto options = std::make_shared<SecretOptions>();
  arguments.option("--data-dir", options->data_dir, data_dir_about);
  arguments.word("name", options->name, "The NAME in ${secret:NAME}; the value is read from stdin or a prompt");
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
  arguments.word("name", options->name, "The name of the secret");
  return [options] { return remove(*options); };
}

}  // namespace agw::cli
