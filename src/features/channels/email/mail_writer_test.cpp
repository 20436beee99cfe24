#include "features/channels/email/mail_writer.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "features/channels/email/mail_encoding.hpp"

namespace agw {
namespace {

MailDraft draft_with(std::string text) {
  return {.from_name = "Gr\u00fc\u00dfe \"X\"",
          .from = "agent@example.org",
          .to = "ann@example.org",
          .subject = "Re: Gr\u00fc\u00dfe\r\nBcc: eve@example.net",
          .message_id = "<1.2@example.org>",
          .references = {"<a@x>", "<b@y>"},
          .text = std::move(text),
          .is_markdown = true,
          .is_reply = true,
          .date = *parse_iso8601("2026-11-24T20:00:00Z")};
}

TEST(MailWriter, WritesWhatTheReaderReads) {
  auto draft = draft_with("**Four**, of course: " + std::string(300, 'x') +
                          "\n\nGr\u00fc\u00dfe \u65e5\u672c\n.\nFrom here =C3  \n-- \n");
  draft.files.push_back({"B\u00fccher.bin", "application/x-thing", std::string("\0\xff\r\n.\r\n", 7)});
  const auto text = write_mail(draft);
  const auto mail = read_mail(text);
  auto wanted = draft.text;
  while (wanted.ends_with('\n')) wanted.pop_back();
  auto read = mail.text;
  std::erase(read, '\r');
  EXPECT_EQ(read, wanted.substr(0, wanted.find_last_not_of(" \n") + 1));
  ASSERT_EQ(mail.files.size(), 1u);
  EXPECT_EQ(mail.files[0].name, draft.files[0].name);
  EXPECT_EQ(mail.files[0].bytes, draft.files[0].bytes);
  EXPECT_EQ(read_addresses(mail.head.first("from")).at(0).address, "agent@example.org");
  EXPECT_EQ(read_addresses(mail.head.first("from")).at(0).name, "Gr\u00fc\u00dfe \"X\"");
  EXPECT_EQ(decode_header(mail.head.first("subject")), " Re: Gr\u00fc\u00dfe  Bcc: eve@example.net");
  EXPECT_EQ(mail.head.first("bcc"), "");
  EXPECT_EQ(mail.head.first("date"), " Tue, 24 Nov 2026 20:00:00 +0000");
  EXPECT_EQ(read_message_ids(mail.head.first("references")), draft.references);
  EXPECT_EQ(mail.head.first("in-reply-to"), " <b@y>");
  EXPECT_EQ(mail.head.first("auto-submitted"), " auto-replied");
  EXPECT_NE(text.find("<strong>Four</strong>"), text.npos);
}

TEST(MailWriter, WritesOnlyWhatSmtpMaySend) {
  auto draft = draft_with(std::string(5000, 'a') + "\n" + std::string(3000, '\xc3') + "\n\x01\n");
  draft.files.push_back({std::string(200, 'n'), "text/plain", std::string(100'000, '\xfe')});
  const auto text = write_mail(draft);
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    ASSERT_NE(end, text.npos);
    ASSERT_TRUE(end > begin && text[end - 1] == '\r') << "at " << begin;
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  EXPECT_LE(longest, 998u);
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '\0'; }));
}

TEST(MailWriter, WritesTheSameMailTheSameWay) { EXPECT_EQ(write_mail(draft_with("x")), write_mail(draft_with("x"))); }

}  // namespace
}  // namespace agw
