#include "features/channels/email/mail_reader.hpp"

#include <gtest/gtest.h>

#include "base/json/json.hpp"
#include "features/channels/email/mail_encoding.hpp"

namespace agw {
namespace {

using Files = std::vector<std::string>;

std::string mail_of(std::string_view type, std::string_view body) {
  return "From: ann@example.org\r\nContent-Type: " + std::string(type) + "\r\n\r\n" + std::string(body);
}

std::string part(std::string_view head, std::string_view body) {
  return "--b\r\n" + std::string(head) + "\r\n\r\n" + std::string(body) + "\r\n";
}

Files attachment_names(const Mail& mail) {
  Files names;
  for (const auto& file : mail.files) names.push_back(file.name + " " + file.mime + " " + file.bytes);
  return names;
}

TEST(MailReader, ReadsAPlainMail) {
  const auto mail = read_mail("From: ann@example.org\nSubject: Hi\n\nHello,\n\nworld.\n");
  EXPECT_EQ(mail.text, "Hello,\n\nworld.");
  EXPECT_EQ(mail.head.first("subject"), " Hi");
  EXPECT_TRUE(mail.files.empty() && mail.omitted.empty());
}

TEST(MailReader, PrefersPlainText) {
  const auto body =
      part("Content-Type: text/plain", "As text.") + part("Content-Type: text/html", "<b>As HTML.</b>") + "--b--\r\n";
  EXPECT_EQ(read_mail(mail_of("multipart/alternative; boundary=b", body)).text, "As text.");
}

TEST(MailReader, KeepsAnInvitationThatIsAnAlternativeOfTheText) {
  const auto html = part("Content-Type: text/html", "<b>As HTML.</b>");
  const auto invitation =
      part("Content-Type: text/calendar; charset=utf-8; method=REQUEST", "BEGIN:VCALENDAR") + "--b--";
  for (const auto& text : {part("Content-Type: text/plain", "As text.") + html, html}) {
    const auto mail = read_mail(mail_of("multipart/alternative; boundary=b", text + invitation));
    EXPECT_EQ(attachment_names(mail), Files{"invite.ics text/calendar BEGIN:VCALENDAR"});
    EXPECT_FALSE(mail.text.empty());
  }
}

TEST(MailReader, ReadsHtmlAsMarkdownIfThereIsNothingElse) {
  const auto body = part("Content-Type: text/plain", "  ") +
                    part("Content-Type: text/html; charset=iso-8859-1",
                         "<p>Gr\xfc\xdf"
                         "e, <b>Ann</b><script>x</script></p>") +
                    "--b--";
  EXPECT_EQ(read_mail(mail_of("multipart/alternative; boundary=b", body)).text, "Gr\u00fc\u00dfe, **Ann**");
}

TEST(MailReader, DecodesBodies) {
  EXPECT_EQ(read_mail("Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
                      "Gr=C3=BC=C3=9Fe und =\r\nmehr =ZZ=")
                .text,
            "Gr\u00fc\u00dfe und mehr =ZZ=");
  EXPECT_EQ(read_mail("Content-Transfer-Encoding: BASE64\n\nSGVs\nbG8h").text, "Hello!");
  EXPECT_EQ(read_mail("Content-Type: text/plain; charset=shift_jis\n\n\x93\xfa\x96\x7b").text, "\u65e5\u672c");
}

TEST(MailReader, JoinsLinesThatWereBrokenForTheScreen) {
  EXPECT_EQ(read_mail("Content-Type: text/plain; format=flowed\n\nOne \ntwo.\nThree\n> a \n> b").text,
            "One two.\nThree\n> a \n> b");
}

TEST(MailReader, KeepsFilesAndPictures) {
  const auto body = part("Content-Type: text/plain", "See both.") +
                    part(
                        "Content-Type: image/png; name=\"a.png\"\r\nContent-Transfer-Encoding: base64\r\n"
                        "Content-Disposition: inline",
                        "UE5H") +
                    part(
                        "Content-Type: text/plain\r\nContent-Disposition: attachment;\r\n"
                        " filename*0*=utf-8''%C3%BC;\r\n filename*1=\"ber.txt\"",
                        "notes") +
                    part("Content-Type: message/rfc822", "From: eve@example.org\r\n\r\nWithin.") + "--b--";
  const auto mail = read_mail(mail_of("multipart/mixed; boundary=\"b\"", body));
  EXPECT_EQ(mail.text, "See both.");
  EXPECT_EQ(attachment_names(mail), (Files{"a.png image/png PNG", "\u00fcber.txt text/plain; charset= notes",
                                           "mail.eml message/rfc822 From: eve@example.org\r\n\r\nWithin."}));
}

TEST(MailReader, LeavesSignaturesForProgramsOut) {
  const auto body =
      part("Content-Type: text/plain", "Signed.") + part("Content-Type: application/pgp-signature", "-----") + "--b--";
  const auto mail = read_mail(mail_of("multipart/signed; boundary=b", body));
  EXPECT_EQ(mail.text, "Signed.");
  EXPECT_TRUE(mail.files.empty());
}

TEST(MailReader, NamesFilesWithoutDirectories) {
  const auto body = part("Content-Type: application/x; name=\"../../etc/pass\\\\..\\\\wd\"", "x") +
                    part("Content-Type: application/x; name=\"..\"", "y") + "--b--";
  EXPECT_EQ(attachment_names(read_mail(mail_of("multipart/mixed; boundary=b", body))),
            (Files{"wd application/x x", "file application/x y"}));
}

TEST(MailReader, StopsAtTooManyAndTooDeepParts) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += part("Content-Type: application/x", "x");
  const auto broad = read_mail(mail_of("multipart/mixed; boundary=b", many));
  EXPECT_LE(broad.files.size(), 100u);
  EXPECT_EQ(broad.omitted, Files{"The mail has too many parts."});

  std::string deep = "Content-Type: text/plain\r\n\r\nBottom.";
  for (int i = 0; i < 200; ++i) {
    const auto name = std::to_string(i);
    deep = "Content-Type: multipart/mixed; boundary=b" + name + "\r\n\r\n--b" + name + "\r\n" + deep + "\r\n--b" +
           name + "--\r\n";
  }
  EXPECT_EQ(read_mail(deep).omitted, Files{"Parts of the mail are nested too deeply."});
}

TEST(MailReader, ReadsMalformedMails) {
  EXPECT_EQ(read_mail("").text, "");
  EXPECT_EQ(read_mail("\n").text, "");
  EXPECT_EQ(read_mail("no header at all").text, "");
  EXPECT_EQ(read_mail(mail_of("multipart/mixed; boundary=b", "--b\r\nContent-Type: text/plain\r\n\r\nNo end")).text,
            "No end");
  EXPECT_EQ(read_mail(mail_of("multipart/mixed; boundary=b", "no parts")).text, "");
  EXPECT_EQ(read_mail(mail_of("multipart/mixed", "no boundary")).files.size(), 1u);
  EXPECT_TRUE(is_utf8(read_mail("Content-Type: text/plain; charset=\"no-such\"\n\n\xff\xfe\x80").text));
  EXPECT_TRUE(is_utf8(read_mail("Content-Type: text/plain; charset=utf-8\n\n\xff\xc3").text));
}

TEST(MailHeader, UnfoldsFieldsAndKnowsItsEnd) {
  const auto head = read_mail_head("Subject: one\r\n two\r\nX: 1\r\nX: 2\r\nnonsense\r\n\r\nBody: no");
  EXPECT_EQ(head.first("subject"), " one two");
  EXPECT_EQ(head.all("x").size(), 2u);
  EXPECT_EQ(head.first("body"), "");
  EXPECT_EQ(head.fields.size(), 3u);
}

TEST(MailHeader, DecodesWordsInAnyCharset) {
  EXPECT_EQ(decode_header("=?utf-8?B?R3LDvMOfZQ==?= =?iso-8859-1?q?aus_K=F6ln?= now"),
            "Gr\u00fc\u00dfeaus K\u00f6ln now");
  EXPECT_EQ(decode_header("=?utf-8?Q?5_=E2=82?= =?UTF-8?B?rA==?= =?utf-8?q?!?="), "5 €!");
  EXPECT_EQ(decode_header("a =?no word"), "a =?no word");
  EXPECT_EQ(decode_header("=?utf-8?X?abc?="), "=?utf-8?X?abc?=");
  EXPECT_EQ(decode_header("=?utf-8?Q?a=0D=0ABcc:_x?="), "a  Bcc: x");
  EXPECT_EQ(decode_header(encode_header("Grüße, \u65e5\u672c, und ein sehr langer Betreff mit vielen Wörtern")),
            "Grüße, \u65e5\u672c, und ein sehr langer Betreff mit vielen Wörtern");
}

TEST(MailAddresses, AreReadOnlyIfUnambiguous) {
  const auto only = [](std::string_view text) {
    const auto all = read_addresses(text);
    return all.size() == 1 ? all.front().name + "|" + all.front().address : std::to_string(all.size()) + " addresses";
  };
  EXPECT_EQ(only("Ann@Example.org"), "|ann@example.org");
  EXPECT_EQ(only("\"Ann, of \\\"X\\\"\" <ann@example.org> (her)"), "Ann, of \"X\"|ann@example.org");
  EXPECT_EQ(only("\"ann@example.org\" <eve@example.net>"), "ann@example.org|eve@example.net");
  EXPECT_EQ(only("=?utf-8?q?Ann_=C3=84?= <ann@example.org>"), "Ann \u00c4|ann@example.org");
  EXPECT_EQ(only("eve@example.net (ann@example.org)"), "|eve@example.net");
  EXPECT_EQ(only("ann@example.org, eve@example.net"), "2 addresses");
  for (const auto* bad :
       {"<ann@example.org> <eve@example.net>", "<ann@example.org> eve@example.net", "people: ann@example.org;",
        "ann@example.org eve@example.net", "<ann@example.org", "\"ann@example.org", "ann@b@example.org", "@example.org",
        "ann@", "<>", "ann\x01@example.org", "=?utf-8?q?ann?=@example.org"}) {
    EXPECT_EQ(only(bad), "|") << bad;
  }
  EXPECT_EQ(only(""), "0 addresses");
}

TEST(MessageIds, AreThoseInAngles) {
  EXPECT_EQ(read_message_ids(" <a@x> junk <b@y>\t<> <c d@z> <e@f"), (std::vector<std::string>{"<a@x>", "<b@y>"}));
}

}  // namespace
}  // namespace agw
