#include "features/channels/email/mail_text.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(OwnText, LeavesOutWhatIsQuotedBelow) {
  EXPECT_EQ(
      own_text(
          "Yes, please.\n\nOn Mon, 3 Nov 2026 at 10:00, Agent\n<agent@example.org> wrote:\n> Shall I?\n>> Do it.\n"),
      "Yes, please.");
  EXPECT_EQ(own_text("Ja.\r\n\r\nAm 3.11.26 schrieb Agent:\r\n> Soll ich?\r\n\r\n"), "Ja.");
  EXPECT_EQ(own_text("Yes.\n\n-----Original Message-----\nFrom: Agent\nSubject: x\n\nShall I?"), "Yes.");
  EXPECT_EQ(own_text("Yes.\n\nFrom: Agent <agent@example.org>\nSent: Monday\nTo: Ann\nSubject: Re: x\n\nShall I?"),
            "Yes.");
  EXPECT_EQ(own_text("Yes.\n\n*Von:* Agent\n*Betreff:* x\n\nSoll ich?"), "Yes.");
}

TEST(OwnText, LeavesOutWhatIsQuotedBelowInOtherLanguages) {
  for (const auto* head : {
           "De : Agent <agent@example.org>\nEnvoyé : lundi\nÀ : Ann\nObjet : x",
           "De\u00a0: Agent\nEnvoyé\u00a0: lundi\nÀ\u00a0: Ann\nObjet\u00a0: x",
           "**De :** Agent\n**Objet :** x",
           "De: Agent\nEnviada em: segunda\nPara: Ann\nAssunto: x",
           "Från: Agent\nSkickat: måndag\nTill: Ann\nÄmne: x",
           "Od: Agent\nWysłano: poniedziałek\nDo: Ann\nTemat: x",
           "发件人: Agent\n发送时间: 2026年\n收件人: Ann\n主题: x",
           "差出人: Agent\n送信日時: 2026年\n宛先: Ann\n件名: x",
           "________________________________\nFrom: Agent\nSent: Monday\nTo: Ann\nSubject: x",
       })
    EXPECT_EQ(own_text(std::string("Yes.\n\n") + head + "\n\nShall I?\n> x"), "Yes.") << head;
  EXPECT_EQ(own_text("Yes.\n\nAgent <agent@example.org> 于2026年11月3日周二 10:00写道：\n> Shall I?"), "Yes.");
}

TEST(OwnText, KeepsAQuestionAboutWhatIsQuotedBelow) {
  EXPECT_EQ(own_text("Thanks.\n\nWhat do you mean by this:\n\n> It is 42.\n"), "Thanks.\n\nWhat do you mean by this:");
}

TEST(OwnText, LeavesOutTheSignature) {
  EXPECT_EQ(own_text("1\n-- \nAnn\n+49 30 1"), "1");
  EXPECT_EQ(own_text("1\n\n--\nAnn"), "1");
}

TEST(OwnText, KeepsTablesKeysAndCode) {
  for (const auto* text : {
           "What is wrong?\n id      | name\n---------+------\n 1       | Ann\nThanks.",
           "Sum up:\ncount   name\n------- -----\n3       x\nThanks.",
           "When does it end?\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\nThanks.",
           "Explain:\n```sql\nSELECT 1;\n--\nSELECT 2;\n```\nThanks.",
       })
    EXPECT_EQ(own_text(text), text);
  EXPECT_EQ(own_text("Explain:\n```\nx\n```\n--\nAnn"), "Explain:\n```\nx\n```");
  EXPECT_EQ(own_text("An open ``` and\n```\n--\nAnn"), "An open ``` and\n```");
}

TEST(OwnText, EndsWithoutBlanksOfHtml) {
  EXPECT_EQ(own_text("1\n\n\u00a0\n\n**From:** Agent\n**Subject:** x\n\nShall I?"), "1");
}

TEST(OwnText, KeepsAnswersBetweenQuotedLines) {
  const auto* const text = "> Shall I?\nYes.\n\n> When?\nTomorrow.";
  EXPECT_EQ(own_text(text), text);
  EXPECT_EQ(own_text("Wrote this:\nmore\n> quoted\nend"), "Wrote this:\nmore\n> quoted\nend");
}

TEST(OwnText, KeepsAllIfNothingElseIsLeft) {
  EXPECT_EQ(own_text("> only\n> quoted\n"), "> only\n> quoted");
  EXPECT_EQ(own_text(""), "");
  EXPECT_EQ(own_text("From: here to there"), "From: here to there");
}

TEST(ForwardedMail, IsAQuotationBelowThePersonsOwnWords) {
  EXPECT_EQ(text_with_forwarded("Sum it up.\n\n---------- Forwarded message ---------\nFrom: Bob <bob@x.org>\n"
                                "Subject: Lunch\n\n\nAt noon?\n\n> Where?\n"),
            "Sum it up.\n\n> ---------- Forwarded message ---------\n> From: Bob <bob@x.org>\n> Subject: Lunch\n> \n> "
            "\n> At noon?\n> \n> > Where?");
  EXPECT_EQ(text_with_forwarded("Fasse zusammen.\r\n\r\n________________________________\r\nVon: Bob\r\n"
                                "Gesendet: Montag\r\nBetreff: Essen\r\n\r\nWann?"),
            "Fasse zusammen.\n\n> Von: Bob\n> Gesendet: Montag\n> Betreff: Essen\n> \n> Wann?");
  EXPECT_EQ(
      text_with_forwarded("Sum it up.\n\nBegin forwarded message:\n\n> From: Bob\n> Subject: Lunch\n> \n> At noon?"),
      "Sum it up.\n\nBegin forwarded message:\n\n> From: Bob\n> Subject: Lunch\n> \n> At noon?");
  EXPECT_EQ(text_with_forwarded("-------- Forwarded Message --------\nSubject: Lunch\n\nAt noon?"),
            "> -------- Forwarded Message --------\n> Subject: Lunch\n> \n> At noon?");
}

TEST(ForwardedMail, MayBeAnAttachment) {
  EXPECT_EQ(text_with_forwarded("Sum it up.\n\n-- \nAnn"), "Sum it up.");
  EXPECT_EQ(text_with_forwarded(""), "");
}

TEST(ForwardedMail, HasAPrefixInItsSubject) {
  for (const auto* subject : {"Fwd: x", "FW: Re: x", "WG: x", "TR : x", "转发：x", "I: x", "  fwd:x"})
    EXPECT_TRUE(is_forward(subject)) << subject;
  for (const auto* subject : {"Re: Fwd: x", "Forward: x", "x", "", "fwd", "In: x"})
    EXPECT_FALSE(is_forward(subject)) << subject;
}

TEST(BareSubject, HasNoPrefixes) {
  EXPECT_EQ(bare_subject("Odp: 回复：Lunch"), "Lunch");
  EXPECT_EQ(bare_subject("Re: AW: Fwd:  Lunch"), "Lunch");
  EXPECT_EQ(bare_subject("Regarding lunch"), "Regarding lunch");
  EXPECT_EQ(bare_subject("Re:"), "");
}

}  // namespace
}  // namespace agw
