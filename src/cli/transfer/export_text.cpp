#include "cli/transfer/export_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"
#include "base/text/ascii.hpp"

namespace agw::cli {

namespace {

constexpr auto page_style =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;"
    "background:#fff}article{margin:1.5rem 0}article>header{font-size:.8rem;color:#666}article.user>div{background:"
    "#f1f3f5;border-radius:.5rem;padding:.5rem .75rem}div{white-space:pre-wrap;overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}article.user>div{background:#262a2e}"
    "article>header{color:#999}}";

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

/// A fence of more backquotes than the longest sequence in the text.
std::string fence_for(std::string_view text) {
  std::size_t longest = 0;
  std::size_t row = 0;
  for (const char c : text) longest = std::max(longest, row = c == '`' ? row + 1 : 0);
  return std::string(std::max<std::size_t>(3, longest + 1), '`');
}

std::string fenced(std::string_view text, std::string_view language = "") {
  const auto fence = fence_for(text);
  return fmt::format("{}{}\n{}\n{}\n", fence, language, text, fence);
}

std::string tool_of(const json::object& turn) {
  const auto* metadata = object_member(turn, "metadata");
  return metadata ? string_or_empty(*metadata, "tool_name") : std::string();
}

bool is_superseded(const json::object& turn) {
  const auto* metadata = object_member(turn, "metadata");
  return metadata && is_true(*metadata, "superseded");
}

std::string heading(const json::object& turn) {
  auto text = string_or_empty(turn, "role");
  if (const auto tool = tool_of(turn); !tool.empty()) text += ' ' + tool;
  if (is_superseded(turn)) text += " (answered again later)";
  return text;
}

std::string reasoning_of(const json::object& turn) {
  const auto* metadata = object_member(turn, "metadata");
  return metadata ? string_or_empty(*metadata, "reasoning") : std::string();
}

/// Formats a quotation that none of its lines can end.
std::string quotation_of(std::string_view text) {
  if (text.empty()) return {};
  std::string quotation = "> **Reasoning**\n>\n> ";
  for (const char c : text) quotation += c == '\n' ? "\n> " : std::string(1, c);
  return quotation + "\n\n";
}

/// Escapes all markup in a name.
std::string plain_in_markdown(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (is_control(c)) continue;
    if (std::string_view("\\`*_[]<>!~&").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

/// Calls `each` with the records of the turn's files.
template <class Each>
void for_each_attachment(const json::object& turn, Each each) {
  const auto* metadata = object_member(turn, "metadata");
  for (const auto member : file_members) {
    const auto* files = metadata ? array_member(*metadata, member) : nullptr;
    for (const auto& file : files ? *files : json::array()) {
      if (file.is_object()) each(file.get_object());
    }
  }
}

std::string files_in_markdown(const json::object& turn, const FileLink& link) {
  std::string text;
  for_each_attachment(turn, [&](const json::object& file) {
    const auto name = plain_in_markdown(string_or_empty(file, "name"));
    const auto place = link(string_or_empty(file, "id"));
    text += text.empty() ? "\n" : "";
    text += place ? fmt::format("- Attached: [{}]({})", name, *place) : fmt::format("- Attached: {}", name);
    const auto type = plain_in_markdown(string_or_empty(file, "mime"));
    text += type.empty() ? "\n" : fmt::format(" ({})\n", type);
  });
  return text;
}

}  // namespace

std::string markdown_head(const json::object& thread) {
  return fmt::format("---\n{}---\n\n# {}\n", json_to_yaml(thread), string_or_empty(thread, "title"));
}

std::string markdown_turn(const json::object& turn, const FileLink& link) {
  auto text = fmt::format("\n## {} · {}\n\n", heading(turn), string_or_empty(turn, "created_at"));
  const auto content = string_or_empty(turn, "content");
  if (string_or_empty(turn, "role") != "tool")
    return text + quotation_of(reasoning_of(turn)) + content + '\n' + files_in_markdown(turn, link);
  if (const auto* metadata = object_member(turn, "metadata")) {
    if (const auto* input = metadata->if_contains("input")) text += fenced(to_json(*input), "json") + '\n';
  }
  return text + fenced(content) + files_in_markdown(turn, link);
}

std::string without_secrets(std::string_view text, const std::vector<std::string>& secrets) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t longest = 0;
    for (const auto& secret : secrets)
      if (secret.size() > longest && text.substr(at).starts_with(secret)) longest = secret.size();
    if (longest > 0)
      safe += "[secret]";
    else
      safe += text[at];
    at += std::max<std::size_t>(1, longest);
  }
  return safe;
}

std::string html_head(const json::object& thread, const std::vector<std::string>& secrets) {
  const auto title = escaped(without_secrets(string_or_empty(thread, "title"), secrets));
  return fmt::format(
      "<!doctype html>\n<html lang=\"und\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{}</title><style>{}</style></head><body><h1>{}</h1>\n",
      title, page_style, title);
}

std::string html_turn(const json::object& turn, const std::vector<std::string>& secrets) {
  const auto role = string_or_empty(turn, "role");
  auto text =
      fmt::format("<article class=\"{}\"><header>{} · {}</header>", escaped(role),
                  escaped(without_secrets(heading(turn), secrets)), escaped(string_or_empty(turn, "created_at")));
  if (role != "tool") text += "<div>" + escaped(without_secrets(string_or_empty(turn, "content"), secrets)) + "</div>";
  for_each_attachment(turn, [&](const json::object& file) {
    text += "<div>Attached: " + escaped(without_secrets(string_or_empty(file, "name"), secrets)) + "</div>";
  });
  return text + "</article>\n";
}

std::string html_end() { return "</body></html>\n"; }

}  // namespace agw::cli
