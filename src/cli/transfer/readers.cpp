#include "cli/transfer/readers.hpp"

#include <array>
#include <stdexcept>

#include "features/filesystem/types.hpp"
#include "features/threads/transfer_types.hpp"

namespace agw::cli {

namespace {

constexpr ImportSource other_program(std::string_view name, void (*read)(Importer&, const std::filesystem::path&)) {
  for (const auto& program : other_programs) {
    if (program.name == name) return {program.name, program.title, program.directory, read};
  }
  throw std::logic_error("no such program");  // at compile time
}

}  // namespace

std::span<const ImportSource> import_sources() {
  static constexpr std::array sources = {
      ImportSource{own_source, "an export of this program: a folder of agw export, or its threads.jsonl", "",
                   read_own_export},
      ImportSource{"chatgpt", "ChatGPT's export: the archive, or its conversations.json", "", read_chatgpt},
      ImportSource{"claude", "Claude's export: the archive, or its conversations.json", "", read_claude},
      other_program("claude-code", read_claude_code),
      other_program("codex", read_codex),
      other_program("hermes", read_hermes),
      other_program("opencode", read_opencode),
      other_program("openclaw", read_openclaw),
  };
  return sources;
}

}  // namespace agw::cli
