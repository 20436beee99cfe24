#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"
#include "base/printable.hpp"
#include "base/text/ascii.hpp"
#include "cli/client/client.hpp"
#include "cli/command_table.hpp"
#include "cli/commands/programs.hpp"
#include "cli/list.hpp"
#include "cli/output/json_output.hpp"
#include "cli/output/terminal.hpp"
#include "cli/transfer/extension_package.hpp"
#include "features/extensions/validation.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/descriptor.hpp"

namespace agw::cli {

namespace {

struct ExtensionEditOptions {
  std::string name;
  std::optional<std::string> from;
  ListOptions list;
};

constexpr auto edit_header =
    "# The saved text is validated and sent when the editor ends. An empty file changes nothing.\n"
    "# The schema of the definition: GET /schemas/{}\n";

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Creates a private file, because the record may be confidential.
std::filesystem::path new_file(const std::string& text) {
  auto path = (std::filesystem::temp_directory_path() / "agw-edit-XXXXXX.yaml").string();
  const Descriptor file(::mkostemps(path.data(), 5, O_CLOEXEC));
  if (!file) throw_errno("cannot create " + path);
  replace_file(path, text, 0600);
  return path;
}

/// Throws std::runtime_error without a terminal, on which the default editor would wait for keys forever.
std::string chosen_editor() {
  for (const auto* name : {"VISUAL", "EDITOR"}) {
    if (const char* value = std::getenv(name); value && *value) return value;
  }
  if (!terminal_at(STDIN_FILENO).present) throw std::runtime_error("there is no terminal: set EDITOR to an editor");
  return "editor";
}

void open_editor(const std::string& editor, const std::filesystem::path& path) {
  const auto status = run_program({"sh", "-c", editor + " \"$1\"", "sh", path.string()});
  if (status != 0) throw std::runtime_error(fmt::format("{} ended with status {}", editor, status));
}

/// The body of the PATCH for the edited text. Throws std::runtime_error with the errors in the text.
json::object change_of(const std::string& text, const json::object& record) {
  auto value = yaml_to_json(text);
  if (!value.is_object()) throw std::runtime_error("must be a map of members, such as `description: …`");
  auto& body = value.get_object();
  if (!body.contains("definition")) throw std::runtime_error("definition is required");
  if (!body.contains("trigger")) body["trigger"] = nullptr;
  try {
    read_extension_change(body, from_text<ExtensionType>(string_or_empty(record, "type")).value());
  } catch (const ApiError& error) {
    throw std::runtime_error(problem_text(error.error(), error.extra()));
  }
  body["if_updated_at"] = string_or_empty(record, "updated_at");
  return std::move(body);
}

Task<int> edit_text(const Client& client, const json::object& record, const std::string& editor,
                    const std::filesystem::path& path, bool json) {
  const auto before = editable_text(record, fmt::format(edit_header, string_or_empty(record, "type")));
  open_editor(editor, path);
  const auto after = read_text(path);
  if (is_blank(after) || after == before) {
    std::cerr << "Nothing was changed.\n";
    co_return 0;
  }
  auto change = change_of(after, record);
  const auto changed = co_await client.patch(agw::cli::path({"extensions", string_or_empty(record, "id")}), change);
  if (json)
    print_json(changed);
  else
    std::cerr << one_line(string_or_empty(changed, "name")) << " is changed.\n";
  co_return 0;
}

Task<int> edit(const FoundGateway& gateway, const ExtensionEditOptions& options) {
  const Client client(gateway);
  const auto value = co_await client.get(path({"extensions", options.name}));
  const auto& record = value.as_object();
  if (string_or_empty(record, "source") == "built-in") {
    throw std::runtime_error("built-in extensions are not editable: add one of your own with `agw ext add`");
  }
  const auto editor = chosen_editor();
  const auto file =
      new_file(options.from ? read_text(*options.from)
                            : editable_text(record, fmt::format(edit_header, string_or_empty(record, "type"))));
  std::string why;
  try {
    const auto status = co_await edit_text(client, record, editor, file, options.list.json);
    std::filesystem::remove(file);
    co_return status;
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (!std::filesystem::exists(file)) throw std::runtime_error(why);
  throw std::runtime_error(fmt::format("{}\nYour text is kept. Go on with: agw ext edit {} --from {}", why,
                                       one_line(options.name), shell_quoted(file.string())));
}

}  // namespace

Action extension_edit_command(Arguments& arguments) {
  auto options = std::make_shared<ExtensionEditOptions>();
  arguments.word("name", options->name, "The extension's name or id");
  arguments.option("--from", options->from, "Start with the text of this file, for example from an earlier attempt");
  declare(arguments, options->list);
  return [options] {
    Loop loop;
    const auto gateway = find_gateway(options->list.data_dir);
    return run(loop, edit(gateway, *options));
  };
}

}  // namespace agw::cli
