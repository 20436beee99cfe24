#pragma once

#include "features/projects/service.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "io/http/http_client.hpp"
#include "models/retry.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw::testing::extensions {

/// The answer of a model that costs `usd`, or whose price is unknown.
inline Completion answer_for(std::optional<double> usd, const Usage& usage = {.output_tokens = 1'000'000},
                             std::string model = "talker") {
  ModelReply reply;
  reply.usage = usage;
  const auto price = [&](double cost) {
    return Price{.output = cost * 1e6 / static_cast<double>(usage.output_tokens)};
  };
  return {std::move(reply), "stub", std::move(model), usd ? std::optional(price(*usd)) : std::nullopt};
}

/// The rooms that costs depend on, with a real database and without models.
struct CostRooms : ExtensionsFixture {
  CostRooms(Loop& loop, const ScratchDirectory& directory)
      : ExtensionsFixture(loop, directory),
        blocking(loop),
        filesystem(blocking, directory.path()),
        projects(database, filesystem, clock, directory.path()),
        runs(loop, database, hub, clock),
        threads(loop, database, hub, clock, projects, runs, extensions),
        http(loop),
        models(http, blocking, {}, Prices(directory.path() / "prices.yaml")) {}

  BlockingPool blocking;
  Filesystem filesystem;
  Projects projects;
  Runs runs;
  Threads threads;
  HttpClient http;
  Models models;
};

}  // namespace agw::testing::extensions
