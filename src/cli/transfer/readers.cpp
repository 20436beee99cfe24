#include "cli/transfer/readers.hpp"

#include <array>

#include "features/threads/transfer_types.hpp"

namespace agw::cli {

std::span<const ImportSource> import_sources() {
  static constexpr std::array sources = {
      ImportSource{own_source, "an export of this program: a folder of agw export, or its threads.jsonl", "",
                   read_own_export},
      ImportSource{"chatgpt", "ChatGPT's export: the archive, or its conversations.json", "", read_chatgpt},
      ImportSource{"claude", "Claude's export: the archive, or its conversations.json", "", read_claude},
      ImportSource{"claude-code", "Claude Code", ".claude", read_claude_code},
      ImportSource{"codex", "Codex", ".codex", read_codex},
      ImportSource{"hermes", "Hermes Agent", ".hermes", read_hermes},
      ImportSource{"opencode", "opencode", ".config/opencode", read_opencode},
      ImportSource{"openclaw", "OpenClaw", ".openclaw", read_openclaw},
  };
  return sources;
}

}  // namespace agw::cli
