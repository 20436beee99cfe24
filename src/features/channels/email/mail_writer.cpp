#include "features/channels/email/mail_writer.hpp"

#include <chrono>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include "base/digest.hpp"
#include "base/json/json.hpp"
#include "features/channels/email/mail_encoding.hpp"
#include "features/channels/markup.hpp"
#include "io/http/web_url.hpp"

namespace agw {

namespace {

std::string text_part(std::string_view type, std::string_view text) {
  return fmt::format("Content-Type: {}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n{}\r\n",
                     type, encode_quoted_printable(text));
}

std::string page_of(std::string_view markdown) {
  return fmt::format("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n{}</body></html>\n",
                     answer_html(markdown));
}

std::string multipart(std::string_view kind, std::string_view boundary, const std::vector<std::string>& parts) {
  auto text = fmt::format("Content-Type: multipart/{}; boundary=\"{}\"\r\n\r\n", kind, boundary);
  for (const auto& part : parts) text += fmt::format("--{}\r\n{}\r\n", boundary, part);
  return text + fmt::format("--{}--\r\n", boundary);
}

/// Derived from the message id, so that the mail is identical when it is sent again.
std::string boundary_of(const MailDraft& draft, std::string_view kind) {
  return fmt::format("{}-{}", kind, to_hex(sha256(draft.message_id)).substr(0, 32));
}

std::string text_of(const MailDraft& draft) {
  auto plain = text_part("text/plain", draft.text);
  if (!draft.is_markdown) return plain;
  return multipart("alternative", boundary_of(draft, "text"),
                   {std::move(plain), text_part("text/html", page_of(draft.text))});
}

std::string file_part(const MailFile& file) {
  const bool is_utf8_text = file.mime.starts_with("text/") && is_utf8(file.bytes);
  return fmt::format(
      "Content-Type: {}{}\r\nContent-Disposition: attachment;\r\n filename*=utf-8''{}\r\n"
      "Content-Transfer-Encoding: base64\r\n\r\n{}",
      file.mime, is_utf8_text ? "; charset=utf-8" : "", percent_encode(file.name), encode_base64(file.bytes));
}

std::string body_of(const MailDraft& draft) {
  if (draft.files.empty()) return text_of(draft);
  std::vector<std::string> parts{text_of(draft)};
  for (const auto& file : draft.files) parts.push_back(file_part(file));
  return multipart("mixed", boundary_of(draft, "files"), parts);
}

std::string sender_of(const MailDraft& draft) {
  if (draft.from_name.empty()) return draft.from;
  auto name = encode_header(draft.from_name);
  if (!name.starts_with("=?")) {
    boost::replace_all(name, "\\", "\\\\");
    boost::replace_all(name, "\"", "\\\"");
    name = fmt::format("\"{}\"", name);
  }
  return fmt::format("{} <{}>", name, draft.from);
}

}  // namespace

std::string write_mail(const MailDraft& draft) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(draft.date);
  auto mail =
      fmt::format("From: {}\r\nTo: {}\r\nSubject: {}\r\nDate: {:%a, %d %b %Y %H:%M:%S +0000}\r\nMessage-ID: {}\r\n",
                  sender_of(draft), draft.to, encode_header(draft.subject),
                  fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), draft.message_id);
  if (!draft.references.empty()) {
    mail += fmt::format("In-Reply-To: {}\r\nReferences: {}\r\n", draft.references.back(),
                        fmt::join(draft.references, "\r\n "));
  }
  // Exchange does not heed Auto-Submitted.
  mail += fmt::format("Auto-Submitted: {}\r\nX-Auto-Response-Suppress: All\r\nMIME-Version: 1.0\r\n",
                      draft.is_reply ? "auto-replied" : "auto-generated");
  return mail + body_of(draft);
}

}  // namespace agw
