#include "server/http/router.hpp"

#include <gtest/gtest.h>

#include "base/async/assert.hpp"

namespace agw {
namespace {

Task<Response> handle(Request&) { co_return Response{}; }

Router example() {
  return Router({get("/threads/:id", "Read", handle), patch("/threads/:id", "Change", handle),
                 get("/turns/search", "Search", handle), remove("/turns/:id", "Delete", handle),
                 get("/proposals/:agent/:name", "Proposal", handle), post("/proposals/:agent/apply", "Apply", handle),
                 get("/apps/:name/proxy/*", "Proxy", handle)});
}

std::string found(std::string_view method, std::vector<std::string> segments) {
  const auto router = example();
  const auto match = router.find(method, segments);
  if (match.at_path.empty()) return "404";
  return match.route ? match.route->summary : "405 " + allowed_methods(match.at_path);
}

TEST(Router, FindsRoutesByMethodAndPath) {
  EXPECT_EQ(found("GET", {"threads", "1"}), "Read");
  EXPECT_EQ(found("HEAD", {"threads", "1"}), "Read");
  EXPECT_EQ(found("PATCH", {"threads", "1"}), "Change");
  EXPECT_EQ(found("GET", {"turns", "search"}), "Search");
  EXPECT_EQ(found("GET", {"apps", "a", "proxy", "x", ""}), "Proxy");
}

TEST(Router, DistinguishesAnUnknownPathFromAnUnsupportedMethod) {
  EXPECT_EQ(found("GET", {"nothing"}), "404");
  EXPECT_EQ(found("GET", {"threads", "1", ""}), "404");
  EXPECT_EQ(found("GET", {"threads", ""}), "404");
  EXPECT_EQ(found("PUT", {"threads", "1"}), "405 GET, HEAD, PATCH");
  EXPECT_EQ(found("get", {"threads", "1"}), "405 GET, HEAD, PATCH");
  EXPECT_EQ(found("DELETE", {"turns", "search"}), "405 GET, HEAD");
}

TEST(Router, ReadsARecordThatHasTheNameOfAnAction) {
  EXPECT_EQ(found("POST", {"proposals", "ann", "apply"}), "Apply");
  EXPECT_EQ(found("GET", {"proposals", "ann", "apply"}), "Proposal");
  EXPECT_EQ(found("PUT", {"proposals", "ann", "apply"}), "405 POST, GET, HEAD");
  EXPECT_EQ(found("POST", {"proposals", "ann", "other"}), "405 GET, HEAD");
}

TEST(Router, RefusesARouteDeclaredTwice) {
  EXPECT_THROW(Router({get("/a/:id", "", handle), get("/a/:name", "", handle)}), InternalError);
}

TEST(Router, RefusesAMalformedPath) {
  for (const auto* path : {"", "a", "/a/:", "/a/*/b"}) {
    EXPECT_THROW(Router({get(path, "", handle)}), InternalError) << path;
  }
}

TEST(Router, RefusesAGetThatChangesSomething) {
  EXPECT_THROW(Router({get("/a", "", handle).executes()}), InternalError);
}

}  // namespace
}  // namespace agw
