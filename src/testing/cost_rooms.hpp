#pragma once

#include "features/projects/service.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "io/http/http_client.hpp"
#include "models/catalog.hpp"
#include "testing/extensions_fixture.hpp"

namespace agw::testing::extensions {

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
