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

TEST(OwnText, LeavesOutTheSignature) {
  EXPECT_EQ(own_text("1\n-- \nAnn\n+49 30 1"), "1");
  EXPECT_EQ(own_text("1\n\n--\nAnn"), "1");
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

TEST(BareSubject, HasNoPrefixes) {
  EXPECT_EQ(bare_subject("Re: AW: Fwd:  Lunch"), "Lunch");
  EXPECT_EQ(bare_subject("Regarding lunch"), "Regarding lunch");
  EXPECT_EQ(bare_subject("Re:"), "");
}

}  // namespace
}  // namespace agw
