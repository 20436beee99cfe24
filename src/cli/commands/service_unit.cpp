#include "cli/commands/service_unit.hpp"

#include <stdexcept>

#include "base/embedded.hpp"

namespace agw::cli {

namespace {

constexpr std::string_view unit_file = "share/packaging/agent-gateway.service";
constexpr std::string_view program_mark = "@AGW@ serve";

/// Quotes an argument for systemd, with specifiers and variables escaped.
std::string word(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '%' || c == '$') out += c;
    if (c == '\n') throw std::runtime_error("a unit cannot contain a path with a line feed");
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string service_unit(const std::filesystem::path& program, const std::optional<std::string>& data_dir) {
  std::string text(embedded_file(unit_file));
  auto command = word(program.string()) + " serve";
  if (data_dir) command += " --data-dir " + word(std::filesystem::absolute(*data_dir).string());
  return text.replace(text.find(program_mark), program_mark.size(), command);
}

}  // namespace agw::cli
