#include <iostream>
#include <memory>

#include "api/error.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/transfer/extension_package.hpp"
#include "features/extensions/extension_text.hpp"
#include "features/extensions/validation.hpp"

namespace agw::cli {

namespace {

struct ExtensionAddOptions {
  std::string path;
  bool community = false;
  bool enable = false;
  ListOptions list;
};

/// Validates before anything is sent; throws the gateway's error.
void judge(const json::object& body, const std::string& path) {
  try {
    read_new_extension(body);
  } catch (const ApiError& error) {
    throw std::runtime_error(path + ": " + problem_text(error.error(), error.extra()));
  }
}

/// Disables extensions from elsewhere, whatever their `enabled`, until their owner has reviewed them.
ExtensionPackage read_package(const ExtensionAddOptions& options) {
  auto package = read_extension_package(options.path);
  auto& body = package.body;
  for (const auto* member : {"id", "owner_agent_id", "source"}) body.erase(member);
  body["source"] = options.community ? "community" : "user";
  if (options.enable) body["enabled"] = true;
  if (options.community) body["enabled"] = false;
  judge(body, options.path);
  return package;
}

std::filesystem::path directory_on_disk(const FoundGateway& gateway, const json::object& record) {
  const auto type = from_text<ExtensionType>(*string_member(record, "type"));
  return gateway.data_directory / directory_of(*type, *string_member(record, "name"));
}

/// An extension with more files is enabled only once they are in place; if that fails, it is removed again.
Task<json::object> send(const FoundGateway& gateway, ExtensionPackage package) {
  const Client client(gateway);
  const bool enabled = is_true(package.body, "enabled");
  if (package.files.empty()) co_return co_await client.post("/extensions", std::move(package.body));
  package.body["enabled"] = false;
  auto record = co_await client.post("/extensions", package.body);
  const auto place = path({"extensions", string_or_empty(record, "id")});
  std::string why;
  try {
    copy_files(package, directory_on_disk(gateway, record));
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (!why.empty()) {
    co_await client.remove(place);
    throw std::runtime_error(why);
  }
  if (enabled) record = co_await client.patch(place, {{"enabled", true}});
  co_return record;
}

Task<int> add(const FoundGateway& gateway, ExtensionPackage package, bool json) {
  const auto record = co_await send(gateway, std::move(package));
  if (json) {
    print_json(record);
    co_return 0;
  }
  const auto name = one_line(string_member(record, "name").value_or(""));
  std::cerr << "Added the " << one_line(string_member(record, "type").value_or("")) << ' ' << name << ".\n";
  if (!is_true(record, "enabled")) {
    std::cerr << "It is disabled. Read it: agw ext show " << name << ", then: agw ext enable " << name << '\n';
  }
  co_return 0;
}

int add(const ExtensionAddOptions& options) {
  Loop loop;
  const auto gateway = find_gateway(options.list.data_dir);
  return run(loop, add(gateway, read_package(options), options.list.json));
}

}  // namespace

Action extension_add_command(Arguments& arguments) {
  auto options = std::make_shared<ExtensionAddOptions>();
  arguments.word("path", options->path, "A JSON or YAML file, - for stdin, or a folder with an agent.yaml or the like");
  arguments.flag("--community", options->community, "Do not trust it: add it disabled, even if it says otherwise");
  arguments.flag("--enable", options->enable, "Enable it at once");
  declare(arguments, options->list);
  return [options] { return add(*options); };
}

}  // namespace agw::cli
