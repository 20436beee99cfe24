#include <algorithm>
#include <chrono>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "base/text/ascii.hpp"
#include "features/agents/service.hpp"
#include "features/extensions/service.hpp"
#include "io/files/directory.hpp"
#include "io/files/update_file.hpp"

namespace agw {

namespace {

constexpr std::size_t max_name_length = 128;
constexpr int max_directory_checks = 100;
constexpr std::chrono::milliseconds directory_check_interval{20};
constexpr std::string_view notes_name = "notes.md";

/// Whether the text contains a control character from U+0080 to U+009F, in UTF-8.
bool has_high_control(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '\xc2' && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

bool is_safe_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name_length && !name.starts_with('.') && name.find("..") == name.npos &&
         name.find_first_of("/\\") == name.npos && std::ranges::none_of(name, is_control) && !has_high_control(name);
}

std::string_view name_of(IdentityFile file) { return file == IdentityFile::soul ? "soul.md" : "user-profile.md"; }

std::string directory_of(const std::optional<std::string>& agent) {
  AGW_DEBUG_ASSERT(!agent || is_safe_name(*agent));
  return agent ? "agents/" + *agent : ".";
}

std::string path_of(std::string_view name, const std::optional<std::string>& agent) {
  return (agent ? directory_of(agent) + '/' : "") + std::string(name);
}

BadRequest invalid_agent_name() { return BadRequest("invalid agent name"); }

[[noreturn]] void refuse(FileError error, bool of_agent) {
  switch (error) {
    case FileError::too_large:
      throw PayloadTooLarge(identity_too_large);
    case FileError::outside:
    case FileError::symlink:
    case FileError::bad_name:
    case FileError::not_directory:
      if (of_agent) throw invalid_agent_name();
      [[fallthrough]];
    default:
      throw permission_denied();
  }
}

Directory open_data_directory(const std::filesystem::path& path) {
  // No symlinks are followed, not even within the directory: they could lead to the token.
  return Directory::open(path, Symlinks::refuse).value();
}

std::string read_file(const Directory& directory, std::string_view name, const std::optional<std::string>& agent) {
  auto content = directory.read(path_of(name, agent), identity_limit);
  if (content) return to_utf8(*content);
  if (content.error() == FileError::not_found) return {};
  refuse(content.error(), agent.has_value());
}

void make_directory(const Directory& directory, const std::optional<std::string>& agent) {
  if (const auto made = directory.make_directories(directory_of(agent)); !made) refuse(made.error(), agent.has_value());
}

void write_file(const Directory& directory, std::string_view name, const std::optional<std::string>& agent,
                std::string_view content) {
  if (content.size() > identity_limit) throw PayloadTooLarge(identity_too_large);
  make_directory(directory, agent);
  const auto written = directory.write(path_of(name, agent), content);
  if (!written) refuse(written.error(), agent.has_value());
}

/// Used for the prompt: without a file that cannot be read, the agent still answers.
std::string read_if_possible(const Directory& directory, std::string_view name,
                             const std::optional<std::string>& agent) {
  try {
    return read_file(directory, name, agent);
  } catch (const ApiError& error) {
    log::warn("{} is left out: {}", path_of(name, agent), error.error());
    return {};
  }
}

std::string as_line(std::string text) {
  std::ranges::replace_if(text, is_control, ' ');
  return "- " + text + '\n';
}

}  // namespace

void check_agent_name(std::string_view name) {
  if (!is_safe_name(name)) throw invalid_agent_name();
}

Identities::Identities(std::filesystem::path data_directory, const Extensions& extensions)
    : data_directory_(std::move(data_directory)), extensions_(extensions) {}

std::string Identities::directory_name(std::string_view id_or_name) const {
  check_agent_name(id_or_name);
  const auto agent = extensions_.find_agent(id_or_name);
  return agent ? agent->name : std::string(id_or_name);
}

std::optional<std::string> Identities::own_directory_name(const std::optional<std::string>& id_or_name) const {
  return id_or_name ? std::optional(directory_name(std::string_view(*id_or_name))) : std::nullopt;
}

/// If nodes share directories, one of them creates and renames them, shortly after the record. Waits until this agent's
/// directory exists. Otherwise a note could create a directory that prevents the rename.
Task<> Identities::settled(std::string agent) const {
  StopSource never;
  for (int checks = 0; checks < max_directory_checks; ++checks) {
    const auto record = extensions_.find_agent(agent);
    if (!record) co_return;
    const bool exists = co_await extensions_.disk().run([path = data_directory_, name = record->name] {
      return open_data_directory(path).status(path_of("agent.yaml", name)).has_value();
    });
    if (exists || co_await pause(never, directory_check_interval) != WaitResult::done) co_return;
  }
}

Task<std::string> Identities::read(IdentityFile file, std::optional<std::string> agent) {
  if (agent && extensions_.shares_files()) co_await settled(*agent);
  co_return co_await extensions_.disk().run([path = data_directory_, file, agent = own_directory_name(agent)] {
    return read_file(open_data_directory(path), name_of(file), agent);
  });
}

Task<> Identities::write(IdentityFile file, std::optional<std::string> agent, std::string content) {
  if (agent && extensions_.shares_files()) co_await settled(*agent);
  co_await extensions_.disk().run(
      [path = data_directory_, file, agent = own_directory_name(agent), content = std::move(content)] {
        write_file(open_data_directory(path), name_of(file), agent, content);
      });
}

Task<AgentIdentity> Identities::of(std::string agent) {
  if (extensions_.shares_files()) co_await settled(agent);
  co_return co_await extensions_.disk().run([path = data_directory_, agent = std::optional(directory_name(agent))] {
    const auto directory = open_data_directory(path);
    AgentIdentity identity;
    identity.base_soul = read_if_possible(directory, "soul.md", std::nullopt);
    identity.agent_soul = read_if_possible(directory, "soul.md", agent);
    identity.user_profile = read_if_possible(directory, "user-profile.md", agent);
    if (identity.user_profile.empty())
      identity.user_profile = read_if_possible(directory, "user-profile.md", std::nullopt);
    identity.notes = read_if_possible(directory, notes_name, agent);
    return identity;
  });
}

Task<> Identities::remember(std::string agent, std::string text) {
  if (extensions_.shares_files()) co_await settled(agent);
  const auto record = extensions_.require_agent(agent);
  co_await extensions_.disk().run(
      [path = data_directory_, agent = std::optional(record->name), text = std::move(text)] {
        const auto directory = open_data_directory(path);
        make_directory(directory, agent);
        const auto add = [&](const std::string* present) {
          auto notes = present ? to_utf8(*present) : std::string();
          if (!notes.empty() && !notes.ends_with('\n')) notes += '\n';
          notes += as_line(text);
          if (notes.size() > identity_limit) throw PayloadTooLarge("the notes are full (max 100KB)");
          return std::optional(std::move(notes));
        };
        const auto written = update_file(directory, path_of(notes_name, agent), identity_limit, add);
        if (!written) refuse(written.error(), true);
      });
}

}  // namespace agw
