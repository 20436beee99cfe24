#include "server/http/router.hpp"

#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace agw {
namespace {

Task<Response> handle(Request&) { co_return Response{}; }

/// As many routes as a gateway has.
Routes many_routes() {
  Routes routes;
  for (int i = 0; i < 60; ++i) {
    const auto path = "/collection" + std::to_string(i);
    routes.push_back(get(path, "List", handle));
    routes.push_back(post(path, "Create", handle));
    routes.push_back(get(path + "/:id", "Read", handle));
    routes.push_back(patch(path + "/:id", "Change", handle));
    routes.push_back(post(path + "/:id/children", "Add", handle));
  }
  return routes;
}

void find(benchmark::State& state) {
  const Router router(many_routes());
  const std::vector<std::string> segments{"collection42", "0197f0c4-6a3e-7d2a-9c3b-5f1e2d3c4b5a", "children"};
  for (auto _ : state) benchmark::DoNotOptimize(router.find("POST", segments));
}
BENCHMARK(find)->Name("Router.Find");

/// One lookup in a map of all paths, which could not contain parameters.
void find_in_map(benchmark::State& state) {
  std::map<std::string, int, std::less<>> paths;
  for (const auto& route : many_routes()) paths.emplace(route.path, 0);
  const std::string path = "/collection42/:id/children";
  for (auto _ : state) benchmark::DoNotOptimize(paths.find(path));
}
BENCHMARK(find_in_map)->Name("Router.Find/floor");

}  // namespace
}  // namespace agw
