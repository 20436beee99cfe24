#include "features/secrets/service.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/data_files.hpp"
#include "base/json/json.hpp"
#include "base/json/yaml.hpp"
#include "base/text/ascii.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/directory.hpp"
#include "io/files/update_file.hpp"

namespace agw {

namespace {

constexpr auto file_name = data_files::secrets;
constexpr std::size_t max_secret_name_length = 128;
constexpr std::size_t max_value_length = 64 * 1024;
constexpr std::size_t max_expanded = 10 << 20;
constexpr std::string_view opening = "${secret:";
static_assert(max_value_length < max_yaml_size, "a value alone can be read again");

constexpr std::string_view name_rule =
    "the name of a secret is made of letters, digits and _, does not begin with a digit, and has 128 characters at "
    "most";

bool is_name_character(char c) { return is_alphanumeric(c) || c == '_'; }

bool is_secret_name(std::string_view name) {
  return !name.empty() && name.size() <= max_secret_name_length && !(name[0] >= '0' && name[0] <= '9') &&
         std::ranges::all_of(name, is_name_character);
}

void check_value(const std::string& value) {
  if (value.empty()) throw SecretError("the value is empty");
  if (value.size() > max_value_length) throw SecretError("the value is longer than 64 KiB");
  if (!is_text(value)) throw SecretError("the value is not UTF-8 text");
}

/// Locks the file of secrets against other writers, in this process and others.
Descriptor lock(const std::filesystem::path& data_directory) {
  Descriptor directory(::open(data_directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) throw_errno("cannot open " + data_directory.string());
  if (::flock(directory.get(), LOCK_EX) == 0) return directory;
  if (errno != EBADF) throw_errno("cannot lock " + data_directory.string());
  // NFS requires write access to a locked file, so directories cannot be locked.
  const auto path = (data_directory / file_name).string() + ".lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file || ::flock(file.get(), LOCK_EX) != 0) throw_errno("cannot lock " + path);
  return file;
}

}  // namespace

Secrets::Secrets(std::filesystem::path data_directory)
    : data_directory_(std::move(data_directory)),
      trust_(std::make_shared<TlsTrustStore>(data_directory_ / data_files::authority)) {}

void Secrets::check_name(std::string_view name) {
  if (!is_secret_name(name)) throw SecretError(std::string(name_rule));
}

Secrets::Values Secrets::read() const {
  AGW_DEBUG_ASSERT(may_block());

  const auto path = (data_directory_ / file_name).string();
  const auto directory = Directory::open(data_directory_, Symlinks::refuse);
  if (!directory) throw SecretError(fmt::format("{}: {}", data_directory_.string(), to_string(directory.error())));
  const auto status = directory->status(file_name);
  if (!status && status.error() == FileError::not_found) return {};
  if (status && (status->mode & 077) != 0) {
    throw SecretError(fmt::format("{0} is open to others: run chmod 600 '{0}'", path));
  }
  const auto text = directory->read(file_name, max_yaml_size);
  if (!text) throw SecretError(fmt::format("cannot read {}: {}", path, to_string(text.error())));
  return parse(*text);
}

Secrets::Values Secrets::parse(const std::string& text) const {
  const auto path = (data_directory_ / file_name).string();
  json::value parsed;
  try {
    parsed = yaml_to_json(text);
  } catch (const YamlError& error) {
    // The parser's message may quote a value.
    throw SecretError(fmt::format("{}:{}: this is not valid YAML", path, error.line()));
  }
  Values values;
  if (parsed.is_null()) return values;
  if (!parsed.is_object()) throw SecretError(fmt::format("{} must be a map from names to texts", path));
  for (const auto& member : parsed.get_object()) {
    if (!is_secret_name(member.key())) throw SecretError(fmt::format("{}: {}", path, name_rule));
    if (!member.value().is_string()) throw SecretError(fmt::format("{}: {} must be a text", path, member.key()));
    values.emplace(member.key(), member.value().get_string());
  }
  return values;
}

std::string Secrets::text_of(const Values& values) {
  std::string text = "# Written by `agw secret`. Used as ${secret:NAME}.\n";
  for (const auto& [name, value] : values) {
    // A JSON string is also a quoted YAML string; unquoted, a name such as `null` would be read as another type.
    write_json(text, std::string_view(name));
    text += ": ";
    write_json(text, std::string_view(value));
    text += '\n';
  }
  // A larger file could not be read again.
  if (text.size() > max_yaml_size) {
    throw SecretError("all secrets together would be larger than 1 MiB: remove some with `agw secret rm`");
  }
  return text;
}

bool Secrets::change(const std::function<bool(Values&)>& edit) const {
  AGW_DEBUG_ASSERT(may_block());

  const auto locked = lock(data_directory_);
  read();  // checks the file's mode
  bool is_changed = false;
  const auto directory = Directory::open(data_directory_, Symlinks::refuse).value();
  // The lock does not stop a person's editor.
  const auto written = update_file(directory, file_name, max_yaml_size, [&](const std::string* present) {
    auto values = present ? parse(*present) : Values();
    is_changed = edit(values);
    return is_changed ? std::optional(text_of(values)) : std::nullopt;
  });
  if (!written) throw SecretError(fmt::format("cannot write {}: {}", file_name, to_string(written.error())));
  return is_changed;
}

void Secrets::set(const std::string& name, const std::string& value) const {
  check_name(name);
  check_value(value);
  change([&](Values& values) {
    values[name] = value;
    return true;
  });
}

bool Secrets::remove(const std::string& name) const {
  check_name(name);
  return change([&](Values& values) { return values.erase(name) > 0; });
}

std::vector<std::string> Secrets::names() const {
  AGW_DEBUG_ASSERT(may_block());

  std::vector<std::string> names;
  for (const auto& [name, value] : read()) names.push_back(name);
  return names;
}

std::optional<std::string> Secrets::find(const std::string& name) const {
  check_name(name);
  auto values = read();
  const auto found = values.extract(name);
  return found ? std::optional(std::move(found.mapped())) : std::nullopt;
}

std::string Secrets::expand(std::string_view text, FilledSecrets* filled) const {
  std::optional<Values> values;
  std::string out;
  for (;;) {
    const auto begin = text.find(opening);
    const auto end = begin == text.npos ? text.npos : text.find('}', begin);
    if (end == text.npos) return out.append(text);
    const auto name = text.substr(begin + opening.size(), end - begin - opening.size());
    check_name(name);
    if (!values) values = read();
    const auto found = values->find(name);
    if (found == values->end()) {
      throw SecretError(fmt::format("there is no secret {0}: set it with `agw secret set {0}`", name));
    }
    if (filled) filled->add(found->second);
    out.append(text.substr(0, begin)).append(found->second);
    if (out.size() > max_expanded) throw SecretError("a text is longer than 10 MiB with its secrets filled in");
    text.remove_prefix(end + 1);
  }
}

std::shared_ptr<const ProgramSecrets> Secrets::for_program(std::vector<DeclaredSecret> declared,
                                                           FilledSecrets* filled) const {
  AGW_DEBUG_ASSERT(may_block());

  if (declared.empty()) return nullptr;
  const auto find = [this](const std::string& name) { return expand(fmt::format("{}{}}}", opening, name)); };
  for (const auto& each : declared) {
    const auto value = find(each.secret);
    if (filled) filled->add(value);
  }
  try {
    return std::make_shared<const ProgramSecrets>(std::move(declared), trust_->load(), find);
  } catch (const ProgramSecretError& error) {
    throw SecretError(error.what());
  } catch (const TlsError& error) {
    throw SecretError(error.what());
  }
}

}  // namespace agw
