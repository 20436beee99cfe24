// The programs that only read, and their harmless options. A grant for such a program also covers its calls with other
// arguments. A command with any option that is not listed here, since it might run programs or write files, is granted
// only as a complete line.

#include <algorithm>
#include <array>
#include <cctype>

#include "features/permissions/command_words.hpp"

namespace agw {

namespace {

struct ReadingCommand {
  std::string_view program;
  std::string_view subcommand;  ///< empty: the program has none
  std::string_view letters;     ///< one-letter options, single or combined, each with an optional number
  /// Long options, each surrounded by spaces. They may have a value after `=`.
  std::array<std::string_view, 3> options;
};

// Intentionally missing. git: -c, -C, --exec-path and other options before the subcommand; --output, --ext-diff,
// --textconv, --show-signature and format letters that run programs or write. rg: --pre, --hostname-bin, -z. find:
// -exec, -ok, -delete, -fprint. tail: -f. file: -C, -z. The programs sort, uniq, tree and date, which can write.
constexpr std::string_view diff_options =
    " --stat --numstat --shortstat --summary --name-only --name-status --raw --patch --no-patch --check --color "
    "--no-color --word-diff --unified --minimal --patience --histogram --ignore-all-space --ignore-space-change "
    "--ignore-space-at-eol --ignore-blank-lines --diff-filter --no-ext-diff --no-textconv --exit-code --quiet "
    "--relative --no-renames --find-renames --find-copies --abbrev --full-index --dirstat --compact-summary ";
constexpr std::string_view log_options =
    " --oneline --graph --decorate --no-decorate --all --branches --tags --remotes --author --committer --grep --since "
    "--until --after --before --follow --merges --no-merges --first-parent --reverse --max-count --skip --date "
    "--abbrev-commit --no-abbrev-commit --topo-order --date-order --left-right --cherry-pick --parents --children ";

constexpr std::array reading_commands{
    ReadingCommand{"git",
                   "status",
                   "sbuvz",
                   {" --short --branch --porcelain --long --verbose --untracked-files --ignored --show-stash "
                    "--ahead-behind --no-ahead-behind --renames --no-renames --find-renames --column --no-column "}},
    ReadingCommand{"git", "diff", "puwbRsqzaUMC", {diff_options, " --cached --staged --merge-base "}},
    ReadingCommand{"git", "log", "puwbszainEUMCFP", {diff_options, log_options}},
    ReadingCommand{"git", "show", "puwbszaUMC", {diff_options, log_options}},
    ReadingCommand{
        "git", "blame", "wlsefnptMC", {" --date --show-name --show-number --show-email --porcelain --since "}},
    ReadingCommand{"git",
                   "ls-files",
                   "cdmoisuzvt",
                   {" --cached --deleted --modified --others --ignored --stage --unmerged --exclude-standard "
                    "--full-name --error-unmatch --abbrev "}},
    ReadingCommand{
        "ls",
        "",
        "aAlhtrRSdi1FGpsnXxCcuUvZBmoLgQ",
        {" --all --almost-all --human-readable --reverse --recursive --size --directory --inode --color "
         "--classify --sort --time --time-style --full-time --group-directories-first --si --numeric-uid-gid "}},
    ReadingCommand{
        "cat",
        "",
        "nbsETAvet",
        {" --number --number-nonblank --squeeze-blank --show-ends --show-tabs --show-all --show-nonprinting "}},
    ReadingCommand{"head", "", "ncqvz", {" --lines --bytes --quiet --verbose "}},
    ReadingCommand{"tail", "", "ncqvz", {" --lines --bytes --quiet --verbose "}},
    ReadingCommand{"wc", "", "lwcmL", {" --lines --words --bytes --chars --max-line-length --total "}},
    ReadingCommand{"pwd", "", "LP", {" "}},
    ReadingCommand{"stat", "", "cLft", {" --format --dereference --file-system --terse "}},
    ReadingCommand{"file", "", "biLh", {" --brief --mime --mime-type --mime-encoding --dereference "}},
    ReadingCommand{
        "du", "", "hsacdbkm", {" --human-readable --summarize --all --total --max-depth --apparent-size --bytes "}},
    ReadingCommand{"df", "", "hTikm", {" --human-readable --print-type --inodes "}},
    ReadingCommand{"diff",
                   "",
                   "uUrqyNwbBiaEZpcC",
                   {" --unified --recursive --brief --side-by-side --new-file --ignore-all-space --ignore-space-change "
                    "--ignore-blank-lines --ignore-case --text --color --context --strip-trailing-cr "}},
    ReadingCommand{"grep",
                   "",
                   "rRnilLcvwxEFPGoHhABCeIsqam",
                   {" --recursive --line-number --ignore-case --files-with-matches --files-without-match --count "
                    "--invert-match --word-regexp --line-regexp --extended-regexp --fixed-strings --perl-regexp "
                    "--only-matching --with-filename --no-filename --after-context --before-context --context --regexp "
                    "--include --exclude --exclude-dir --color --max-count --binary-files --no-messages --quiet "}},
    ReadingCommand{
        "rg",
        "",
        "nilcvwxFPoHIABCegtTSsuUMm.0pL",
        {" --line-number --no-line-number --ignore-case --smart-case --case-sensitive --files-with-matches "
         "--files-without-match --count --count-matches --invert-match --word-regexp --line-regexp "
         "--fixed-strings --pcre2 --only-matching --with-filename --no-filename --after-context "
         "--before-context --context --regexp --glob --iglob --type --type-not --type-list --files --hidden "
         "--no-ignore --color --heading --no-heading --max-count --max-depth --max-columns --multiline --sort "
         "--sortr --json --stats --trim --vimgrep --passthru --null --column --no-messages --follow "}},
    ReadingCommand{"find",
                   "",
                   "",
                   {" -name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -newer -print -print0 -ls "
                    "-empty -not -o -a -or -and -prune -xdev -follow -regex -iregex -perm -user -group -L -P -H -true "
                    "-false -depth "}},
};

bool lists(const ReadingCommand& command, std::string_view option) {
  if (option.find(' ') != option.npos) return false;
  const auto between_spaces = ' ' + std::string(option) + ' ';
  return std::ranges::any_of(command.options,
                             [&](auto listed) { return listed.find(between_spaces) != std::string_view::npos; });
}

/// Whether the argument consists of allowed single-letter options: `-la`, `-n5`, `-5`.
bool are_letters(const ReadingCommand& command, std::string_view argument) {
  auto letters = argument.substr(1);
  while (!letters.empty() && std::isdigit(static_cast<unsigned char>(letters.back())) != 0) letters.remove_suffix(1);
  if (command.letters.empty()) return false;
  return std::ranges::all_of(letters,
                             [&](char letter) { return command.letters.find(letter) != std::string_view::npos; });
}

bool only_reads(const ReadingCommand& command, std::string_view argument) {
  // A single dash means standard input, two end the options.
  if (!argument.starts_with('-') || argument == "-" || argument == "--") return true;
  if (lists(command, argument.substr(0, argument.find('=')))) return true;
  return !argument.starts_with("--") && are_letters(command, argument);
}

}  // namespace

std::optional<std::string> reading_command(std::span<const std::string> words) {
  for (const auto& command : reading_commands) {
    const std::size_t named = command.subcommand.empty() ? 1 : 2;
    if (words.size() < named || words[0] != command.program) continue;
    if (named == 2 && words[1] != command.subcommand) continue;
    // Checks arguments after `--`, too, because it may be the value of the preceding option.
    const auto arguments = words.subspan(named);
    if (!std::ranges::all_of(arguments, [&](const auto& word) { return only_reads(command, word); })) break;
    return quoted_words(words.first(named)) + " *";
  }
  return std::nullopt;
}

}  // namespace agw
