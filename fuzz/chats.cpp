// Conversations and settings of other programs, as `agw import` reads them in a dry run: everything is imported, or
// skipped with a reason. The first byte selects the program.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.hpp"
#include "base/json/json.hpp"
#include "cli/transfer/importer.hpp"
#include "cli/transfer/readers.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"
#include "testing/scratch_directory.hpp"

namespace {

namespace fs = std::filesystem;
using namespace agw;

struct Source {
  std::string_view name;
  void (*read)(cli::Importer& importer, const fs::path& path);
  std::string_view file;  ///< in the directory to import
};

constexpr Source sources[] = {
    {"agw", cli::read_own_export, "threads.jsonl"},
    {"chatgpt", cli::read_chatgpt, "conversations.json"},
    {"claude", cli::read_claude, "conversations.json"},
    {"claude-projects", cli::read_claude_projects, "projects.json"},
    {"claude-code", cli::read_claude_code, "projects/-home-me/session.jsonl"},
    {"claude-code", cli::read_claude_code, "settings.json"},
    {"codex", cli::read_codex, "sessions/2026/01/02/rollout-2026-01-02T03-04-05-0.jsonl"},
    {"codex", cli::read_codex, "config.toml"},
    {"hermes", cli::read_hermes, "config.yaml"},
    {"hermes", cli::read_hermes, "cron/jobs.json"},
    {"opencode", cli::read_opencode, "opencode.json"},
    {"openclaw", cli::read_openclaw, "openclaw.json"},
    {"openclaw", cli::read_openclaw, "agents/main/sessions/0.jsonl"},
    {"openclaw", cli::read_openclaw, "cron/jobs.json"},
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (size < 2 || max_size < 2) return size;
  if (seed % 64 == 0) data[0] = static_cast<std::uint8_t>(seed >> 8);
  return 1 + fuzzing::mutate_json_lines(data + 1, size - 1, max_size - 1, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  static const testing::ScratchDirectory scratch;
  const auto& source = sources[data[0] % std::size(sources)];
  const auto folder = scratch.path() / source.name;
  fs::remove_all(folder);
  const auto file = folder / source.file;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << fuzzing::text_of(data + 1, size - 1);
  cli::Importer importer(std::string(source.name), folder, nullptr, false, true);
  try {
    source.read(importer, folder);
    importer.finish();
  } catch (const std::exception& error) {
    fuzzing::require(is_utf8(error.what()));
  }
  for (const auto& left : importer.left_out()) fuzzing::require(is_utf8(left.what) && is_utf8(left.why));
  for (const auto& note : importer.notes()) fuzzing::require(is_utf8(note));
  return 0;
}
