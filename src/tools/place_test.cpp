#include "tools/place.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

const FileRoots with_project{.home = "/home/ann",
                             .data_directory = "/home/ann/.agent-gateway",
                             .agent = "helper",
                             .project = "/home/ann/work/site"};

struct Case {
  const char* path;
  FilePlace place;
};

void PrintTo(const Case& shown, std::ostream* out) { *out << shown.path; }

class PlaceOf : public ::testing::TestWithParam<Case> {};

TEST_P(PlaceOf, IsDeterminedByTheLocationOfTheFile) {
  EXPECT_EQ(place_of(GetParam().path, with_project), GetParam().place);
}

INSTANTIATE_TEST_SUITE_P(
    Visible, PlaceOf,
    ::testing::Values(Case{"/home/ann/work/site", FilePlace::project},
                      Case{"/home/ann/work/site/src/a.cpp", FilePlace::project},
                      Case{"/home/ann/work/site/.github/ci.yml", FilePlace::project},
                      Case{"/home/ann/work/site/.git/HEAD", FilePlace::project},
                      Case{"/home/ann/work/site2/a.cpp", FilePlace::home},
                      Case{"/home/ann/.agent-gateway/agents/helper/workspace/a.txt", FilePlace::workspace},
                      Case{"/home/ann/.agent-gateway/agents/helper/soul.md", FilePlace::own_soul},
                      Case{"/home/ann/.agent-gateway/agents/helper/notes.md", FilePlace::own_directory},
                      Case{"/home/ann/.agent-gateway/knowledge/wiki/a.md", FilePlace::library},
                      Case{"/home/ann/.agent-gateway/skills/pdf/SKILL.md", FilePlace::library},
                      Case{"/home/ann/notes.txt", FilePlace::home}, Case{"/home/ann", FilePlace::home}));

INSTANTIATE_TEST_SUITE_P(
    Guarded, PlaceOf,
    ::testing::Values(Case{"/home/ann/work/site/.git/hooks/pre-commit", FilePlace::guarded},
                      Case{"/home/ann/work/site/.git/config", FilePlace::guarded},
                      Case{"/home/ann/work/site/.git", FilePlace::guarded},
                      Case{"/home/ann/work/site/lib/.git/modules/x/hooks/update", FilePlace::guarded},
                      Case{"/home/ann/work/site/.agents/skills/x/SKILL.md", FilePlace::guarded},
                      Case{"/home/ann/.agent-gateway/agents/helper/workspace/r/.git/config", FilePlace::guarded}));

INSTANTIATE_TEST_SUITE_P(
    NotForAgents, PlaceOf,
    ::testing::Values(Case{"/home/ann/.profile", FilePlace::hidden},
                      Case{"/home/ann/.config/app/settings", FilePlace::hidden},
                      Case{"/home/ann/work/.cache/x", FilePlace::hidden}, Case{"/etc/passwd", FilePlace::outside},
                      Case{"/home/annabel/notes.txt", FilePlace::outside}, Case{"/", FilePlace::outside},
                      Case{"/proc/self/root/home/ann/notes.txt", FilePlace::outside},
                      Case{"/home/ann/.agent-gateway", FilePlace::never},
                      Case{"/home/ann/.agent-gateway/.gateway-token", FilePlace::never},
                      Case{"/home/ann/.agent-gateway/gateway.db", FilePlace::never},
                      Case{"/home/ann/.agent-gateway/secrets.yaml", FilePlace::never},
                      Case{"/home/ann/.agent-gateway/config.yaml", FilePlace::never},
                      Case{"/home/ann/.agent-gateway/soul.md", FilePlace::never},
                      Case{"/home/ann/.agent-gateway/agents", FilePlace::never},
                      Case{"/home/ann/.agent-gateway/agents/other/soul.md", FilePlace::never},
                      Case{"/home/ann/.agent-gateway/agents/helper2/workspace/a", FilePlace::never},
                      Case{"/home/ann/.agent-gateway/trash/.agents/a", FilePlace::never}));

INSTANTIATE_TEST_SUITE_P(
    Private, PlaceOf,
    ::testing::Values(
        Case{"/home/ann/gateway.before-restore-20261121T091830123Z/secrets.yaml", FilePlace::never},
        Case{"/home/ann/gateway.restore-0f9a12bc/secrets.yaml", FilePlace::never},
        Case{"/home/ann/gateway.restore-notes/a.md", FilePlace::home}, Case{"/home/ann/.ssh/config", FilePlace::never},
        Case{"/home/ann/.aws/credentials", FilePlace::never}, Case{"/home/ann/.gnupg/x", FilePlace::never},
        Case{"/home/ann/.netrc", FilePlace::never}, Case{"/home/ann/.config/gcloud/x", FilePlace::never},
        Case{"/home/ann/.kube/config", FilePlace::never}, Case{"/home/ann/.docker/config.json", FilePlace::never},
        Case{"/home/ann/.npmrc", FilePlace::never}, Case{"/home/ann/.pypirc", FilePlace::never},
        Case{"/home/ann/.git-credentials", FilePlace::never}, Case{"/home/ann/.azure/x", FilePlace::never},
        Case{"/home/ann/.password-store/x.gpg", FilePlace::never},
        Case{"/home/ann/.mozilla/firefox/x", FilePlace::never},
        Case{"/home/ann/.config/google-chrome/Default", FilePlace::never},
        Case{"/home/ann/work/site/deep/er/.ssh/id", FilePlace::never},
        Case{"/home/ann/work/site/.npmrc", FilePlace::never},
        Case{"/home/ann/work/site/tls/server.pem", FilePlace::never},
        Case{"/home/ann/work/site/tls/server.key", FilePlace::never}, Case{"/home/ann/id_rsa.pub", FilePlace::never},
        Case{"/home/ann/id_dsa", FilePlace::never}, Case{"/home/ann/x/id_ecdsa_sk", FilePlace::never},
        Case{"/home/ann/.agent-gateway/agents/helper/workspace/id_ed25519", FilePlace::never}));

TEST(PlaceOf, WithoutAProjectItsFolderIsOneOfHomes) {
  auto roots = with_project;
  roots.project.reset();
  EXPECT_EQ(place_of("/home/ann/work/site/src/a.cpp", roots), FilePlace::home);
  EXPECT_EQ(roots.working_directory(), "/home/ann/.agent-gateway/agents/helper/workspace");
}

TEST(PlaceOf, OutsideOfHomeADataDirectoryIsStillPrivate) {
  auto roots = with_project;
  roots.data_directory = "/srv/agw";
  EXPECT_EQ(place_of("/srv/agw/gateway.db", roots), FilePlace::never);
  EXPECT_EQ(place_of("/srv/agw/agents/helper/workspace/a", roots), FilePlace::workspace);
}

}  // namespace
}  // namespace agw
