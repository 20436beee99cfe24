#include "features/secrets/filled_secrets.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

TEST(FilledSecrets, AreHiddenEverywhere) {
  FilledSecrets secrets;
  EXPECT_EQ(secrets.hidden_in("key hunter2"), "key hunter2");
  secrets.add("Hunter2");
  secrets.add("Hunter2secret");
  EXPECT_EQ(secrets.hidden_in("Hunter2secret or Hunter2?"), "[secret] or [secret]?");
  EXPECT_EQ(secrets.hidden_in("cannot resolve hunter2secret"), "cannot resolve [secret]")
      << "hosts are in small letters";
  EXPECT_EQ(secrets.hidden_in("nothing of it"), "nothing of it");
  secrets.add("Ann");
  EXPECT_EQ(secrets.hidden_in("Ann has hunter2"), "[secret] has [secret]");
  EXPECT_EQ(secrets.hidden_in_response("Ann has hunter2"), "Ann has [secret]");
}

TEST(FilledSecrets, AreHiddenAsPiecesOfUrlsAndLineByLine) {
  FilledSecrets secrets;
  secrets.add("a key/of mine");
  secrets.add("-----BEGIN-----\nMIIEvQ\n}\n");
  EXPECT_EQ(secrets.hidden_in("http://h/a%20key%2Fof%20mine"), "http://h/[secret]");
  EXPECT_EQ(secrets.hidden_in("it read MIIEvQ {}"), "it read [secret] {}");
}

TEST(FilledSecrets, AreHiddenToTheirEndsWhereTheyOverlap) {
  FilledSecrets secrets;
  secrets.add("user:password");
  secrets.add("password@host");
  EXPECT_EQ(secrets.hidden_in("at user:password@host."), "at [secret].");
  EXPECT_EQ(secrets.hidden_in("user:passworduser:password"), "[secret][secret]");
}

TEST(FilledSecrets, LeaveNoPartOfOneThatWasCut) {
  FilledSecrets secrets;
  EXPECT_EQ(secrets.hidden_in_cut("as it is"), "as it is");
  secrets.add("hunter2");
  secrets.add("otter");
  EXPECT_EQ(secrets.hidden_in_cut("the key hunter2, then hunter2hunter"), "the key [secret], then [secret]");
  EXPECT_EQ(secrets.hidden_in_cut("it has Hunter2 a"), "it has [secret]");
  EXPECT_EQ(secrets.hidden_in_cut("hunter"), "");
}

}  // namespace
}  // namespace agw
