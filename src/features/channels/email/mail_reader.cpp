#include "features/channels/email/mail_reader.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/trim.hpp>

#include "base/containers.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "features/channels/email/mail_encoding.hpp"
#include "tools/charset.hpp"
#include "tools/web/markdown.hpp"

namespace agw {

namespace {

constexpr int max_depth = 10;
constexpr std::size_t max_parts = 100;
constexpr std::size_t max_boundary = 200;  // RFC 2046 allows 70
constexpr std::size_t max_name = 200;
/// Limit of the text of a part, in bytes: a longer text becomes a file.
constexpr std::size_t max_text_bytes = 1024 * 1024;

/// An invitation says only there when it is, and can be an alternative of the text.
constexpr std::string_view calendar = "text/calendar";

std::string type_of(std::string_view part) {
  return read_field_value(read_mail_head(part).first("content-type")).value;
}

std::string content_type_for(const FieldValue& type) {
  return fmt::format("{}; charset={}", type.value, type.parameter("charset"));
}

/// Joins lines that were wrapped for display (format=flowed, RFC 3676).
std::string unflowed(std::string_view text, bool deletes_blank) {
  std::string joined;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    auto line = text.substr(0, end);
    text.remove_prefix(end);
    auto content = line.substr(0, line.find_last_not_of("\r\n") + 1);
    const bool is_quoted = content.starts_with('>');
    if (!is_quoted && content.starts_with(' ')) content.remove_prefix(1);
    const bool continues = !is_quoted && content.ends_with(' ') && content != "-- ";
    if (continues && deletes_blank) content.remove_suffix(1);
    joined += content;
    if (!continues) joined += '\n';
  }
  return joined;
}

std::string_view name_for(std::string_view mime) {
  if (mime == "message/rfc822") return "mail.eml";
  return mime == calendar ? "invite.ics" : "file";
}

std::string safe_name(std::string_view name, std::string_view mime) {
  name = name.substr(name.find_last_of("/\\") == name.npos ? 0 : name.find_last_of("/\\") + 1);
  std::string clean(name);
  std::ranges::replace_if(clean, is_control, ' ');
  boost::trim(clean);
  if (clean.empty() || clean == "." || clean == "..") clean = name_for(mime);
  return std::string(utf8_prefix(clean, max_name));
}

/// The parts of a multipart body, without the text before the first and after the last part.
std::vector<std::string_view> parts_of(std::string_view body, std::string_view boundary, bool& has_more) {
  std::vector<std::string_view> parts;
  const auto mark = fmt::format("--{}", boundary);
  std::optional<std::size_t> begin;
  for (std::size_t line = 0; line < body.size();) {
    const auto end = std::min(body.find('\n', line), body.size() - 1) + 1;
    const auto rest = body.substr(line, end - line);
    if (rest.starts_with(mark)) {
      if (begin) parts.push_back(body.substr(*begin, line - *begin));
      begin = end;
      if (rest.substr(mark.size()).starts_with("--")) return parts;
      if (parts.size() >= max_parts) {
        has_more = true;
        return parts;
      }
    }
    line = end;
  }
  // The closing boundary is missing, so the last part extends to the end.
  if (begin) parts.push_back(body.substr(*begin));
  return parts;
}

/// Collects the text and the files of a mail.
class MailCollector {
public:
  explicit MailCollector(Mail& mail) : mail_(mail) {}

  void read(const MailHead& head, std::string_view body, int depth) {
    auto type = read_field_value(head.first("content-type"));
    if (type.value.empty()) type.value = "text/plain";
    const auto boundary = type.parameter("boundary");
    const bool is_multipart =
        type.value.starts_with("multipart/") && !boundary.empty() && boundary.size() < max_boundary;
    if (!is_multipart) return read_leaf(head, type, body);
    if (depth >= max_depth) return note_omitted("Parts of the mail are nested too deeply.");
    bool has_more = false;
    const auto parts = parts_of(body, boundary, has_more);
    if (has_more) note_omitted("The mail has too many parts.");
    if (type.value == "multipart/alternative") return read_alternative(parts, depth);
    for (const auto part : parts) read_part(part, depth);
  }

private:
  void read_part(std::string_view part, int depth) {
    if (++parts_ > max_parts) return note_omitted("The mail has too many parts.");
    // The line end before a boundary belongs to the boundary.
    if (part.ends_with('\n')) part.remove_suffix(1);
    if (part.ends_with('\r')) part.remove_suffix(1);
    const auto head = read_mail_head(part);
    read(head, part.substr(head.size), depth + 1);
  }

  /// Alternatives of one content, the best last. Plain text is preferred, because people wrote it, unless it is empty.
  void read_alternative(const std::vector<std::string_view>& parts, int depth) {
    for (const auto part : parts) {
      const auto before = mail_.text.size();
      const auto type = type_of(part);
      const bool is_plain = type.empty() || type == "text/plain";
      if (is_plain) read_part(part, depth);
      if (mail_.text.size() > before) return read_files(parts, depth);
    }
    const auto before = mail_.text.size();
    for (const auto part : parts) {
      const auto type = type_of(part);
      if ((mail_.text.size() == before && type != "text/plain") || type == calendar) read_part(part, depth);
    }
  }

  /// Reads only the alternatives that are not text, such as a calendar entry or pictures.
  void read_files(const std::vector<std::string_view>& parts, int depth) {
    reads_text_ = false;
    for (const auto part : parts) {
      const auto type = type_of(part);
      if ((!type.empty() && !type.starts_with("text/")) || type == calendar) read_part(part, depth);
    }
    reads_text_ = true;
  }

  void read_leaf(const MailHead& head, const FieldValue& type, std::string_view body) {
    const auto disposition = read_field_value(head.first("content-disposition"));
    auto name = disposition.parameter("filename");
    if (name.empty()) name = type.parameter("name");
    const auto encoding = read_field_value(head.first("content-transfer-encoding")).value;
    auto bytes = decode_body(body, encoding);
    const bool is_text = type.value == "text/plain" || type.value == "text/html";
    const bool is_shown = is_text && disposition.value != "attachment" && name.empty();
    if (is_shown && bytes.size() <= max_text_bytes) return add_text(type, bytes);
    // Signatures are of no use to people.
    if (type.value == "application/pgp-signature" || type.value == "application/pkcs7-signature") return;
    if (bytes.empty()) return;
    const auto mime = type.value.find('/') == type.value.npos ? "application/octet-stream" : type.value;
    mail_.files.push_back({safe_name(name, mime), is_text ? content_type_for(type) : mime, std::move(bytes)});
  }

  void add_text(const FieldValue& type, const std::string& bytes) {
    if (!reads_text_) return;
    std::string text;
    if (type.value == "text/html") {
      auto page =
          html_to_markdown(html_to_utf8(bytes, content_type_for(type)), *WebUrl::parse("https://mail.invalid/"));
      if (!page.problem.empty()) note_omitted(fmt::format("The end of the mail is missing: {}", page.problem));
      text = std::move(page.markdown);
    } else {
      text = text_to_utf8(bytes, content_type_for(type));
      if (type.parameter("format") == "flowed") text = unflowed(text, type.parameter("delsp") == "yes");
    }
    boost::trim(text);
    if (!text.empty() && !mail_.text.empty()) mail_.text += "\n\n";
    mail_.text += text;
  }

  void note_omitted(std::string what) {
    if (!contains(mail_.omitted, what)) mail_.omitted.push_back(std::move(what));
  }

  Mail& mail_;
  std::size_t parts_ = 0;
  bool reads_text_ = true;
};

}  // namespace

Mail read_mail(std::string_view bytes) {
  Mail mail{.head = read_mail_head(bytes), .text = {}};
  MailCollector(mail).read(mail.head, bytes.substr(mail.head.size), 0);
  return mail;
}

}  // namespace agw
