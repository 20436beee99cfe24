#include "features/model_services/service.hpp"

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/model_services/store.hpp"
#include "io/http/web_url.hpp"
#include "testing/extensions_fixture.hpp"
#include "testing/loopback_server.hpp"
#include "testing/no_descriptors.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using namespace testing::extensions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LoopbackServer;
using ::testing::Not;

/// A list of models in OpenAI's form.
std::string list_response(std::string_view id, std::string_view owner = "") {
  const auto body = fmt::format(R"({{"data":[{{"id":"{}","owned_by":"{}"}}]}})", id, owner);
  return fmt::format("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}", body.size(),
                     body);
}

struct ModelServicesFixture : ExtensionsFixture {
  ModelServicesFixture(Loop& loop, const testing::ScratchDirectory& directory, ModelServices::Options options)
      : ExtensionsFixture(loop, directory),
        blocking(loop),
        http(loop),
        secrets(directory.path()),
        signals(database, hub, clock, std::chrono::days(1)),
        models(http, blocking, {}, Prices(directory.path() / "prices.yaml")),
        services({loop, database, hub, extensions, http, blocking, secrets, signals, models}, std::move(options)) {
    services.load(database.start_connection());
  }

  Task<ExtensionPointer> connect(std::string name, const std::string& base_url, const std::string& api_key = "") {
    json::object body{{"type", "integration"}, {"name", name}, {"description", "d"}, {"enabled", true}};
    json::object definition{{"kind", "model"}, {"api", "openai-chat"}, {"base_url", base_url}};
    if (!api_key.empty()) definition["api_key"] = api_key;
    body["definition"] = std::move(definition);
    return extensions.create(std::move(body));
  }

  BlockingPool blocking;
  HttpClient http;
  Secrets secrets;
  Signals signals;
  Models models;
  ModelServices services;
};

void with_services(ModelServices::Options options,
                   const std::function<Task<>(ModelServicesFixture& fixture, Loop& loop)>& body) {
  testing::run([&](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    ModelServicesFixture fixture(loop, directory, options);
    co_await body(fixture, loop);
    co_await fixture.services.stop();
  });
}

ModelServicePreset preset(std::string name, std::string base_url, bool local) {
  ModelServicePreset made;
  made.name = made.label = std::move(name);
  made.api = "openai-chat";
  made.base_url = std::move(base_url);
  made.local = made.detect = local;
  made.needs_key = !local;
  return made;
}

TEST(ModelServices, AreDetectedOnlyAtLocalPresets) {
  std::vector<ModelServicePreset> presets;
  const ModelServices::Options options{.detection_limit = 1min,
                                       .presets = [&]() -> const std::vector<ModelServicePreset>& { return presets; }};
  with_services(options, [&](ModelServicesFixture& fixture, Loop& loop) -> Task<> {
    LoopbackServer here(loop, {list_response("m1")});
    LoopbackServer web_page(loop, {"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi"});
    LoopbackServer elsewhere(loop, {list_response("m2")});
    presets = {preset("here", here.url("/v1"), true), preset("page", web_page.url("/v1"), true),
               preset("away", "http://127.0.0.1:1/v1", true), preset("elsewhere", elsewhere.url("/v1"), false)};
    const auto found = co_await fixture.services.detect();
    EXPECT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().name, "here");
    EXPECT_EQ(found.front().models.front().id, "m1");
    EXPECT_EQ(found.front().definition.at("base_url").as_string(), here.url("/v1"));
    EXPECT_EQ(here.requests(), 1U);
    EXPECT_EQ(elsewhere.connections(), 0) << "it is no service of this machine";
    EXPECT_TRUE(fixture.extensions.list({.type = ExtensionType::integration}).empty()) << "nothing is stored";
    co_await here.close();
    co_await web_page.close();
    co_await elsewhere.close();
  });
}

TEST(ModelServices, AreToldApartByTheOwnerThatTheirListNames) {
  std::vector<ModelServicePreset> presets;
  const ModelServices::Options options{.detection_limit = 1min,
                                       .presets = [&]() -> const std::vector<ModelServicePreset>& { return presets; }};
  with_services(options, [&](ModelServicesFixture& fixture, Loop& loop) -> Task<> {
    LoopbackServer itself(loop, {list_response("m1", "llamacpp")});
    LoopbackServer another(loop, {list_response("m2", "another")});
    presets = {preset("itself", itself.url("/v1"), true), preset("replaced", another.url("/v1"), true),
               preset("by-hand", "http://127.0.0.1:1/v1", true)};
    presets[0].owned_by = presets[1].owned_by = "llamacpp";
    presets[2].detect = false;
    const auto found = co_await fixture.services.detect();
    EXPECT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().name, "itself");
    co_await itself.close();
    co_await another.close();
  });
}

TEST(ModelServices, LocalPresetsAreOnLoopbackAndDetectedAtTheUsualPorts) {
  std::vector<std::string> detected;
  for (const auto& each : model_service_presets()) {
    const auto url = WebUrl::parse(each.base_url);
    const bool is_loopback = url && url->host() == "127.0.0.1";
    EXPECT_EQ(each.local, is_loopback) << each.name;
    if (each.detect) detected.push_back(fmt::format("{} {} {}", each.name, url->origin(), each.owned_by));
  }
  EXPECT_THAT(detected, ElementsAre("ollama http://127.0.0.1:11434 ", "lm-studio http://127.0.0.1:1234 ",
                                    "vllm http://127.0.0.1:8000 vllm", "llama-cpp http://127.0.0.1:8080 llamacpp"));
}

TEST(ModelServices, AreAskedForTheirModelsOnceUntilTheListIsOld) {
  with_services({.list_age = 1h}, [](ModelServicesFixture& fixture, Loop& loop) -> Task<> {
    LoopbackServer server(loop, {list_response("m1"), list_response("m2")});
    co_await fixture.connect("mine", server.url("/v1"));
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(co_await fixture.services.list_json(false), HasSubstr("mine/m1"));
    }
    EXPECT_EQ(server.requests(), 1U);
    co_await server.close();
  });
}

TEST(ModelServices, AreAskedAgainOnceTheListIsOldWhileTheOldOneIsShown) {
  with_services({.list_age = 0ms}, [](ModelServicesFixture& fixture, Loop& loop) -> Task<> {
    LoopbackServer server(loop, {list_response("m1"), list_response("m2")});
    co_await fixture.connect("mine", server.url("/v1"));
    EXPECT_THAT(co_await fixture.services.list_json(false), HasSubstr("mine/m1"));
    EXPECT_THAT(co_await fixture.services.list_json(false), HasSubstr("mine/m1")) << "nobody waits for the new one";
    StopSource never;
    while (fixture.models.lists("mine", "m2") != true) co_await pause(never, 5ms);
    EXPECT_EQ(server.requests(), 2U);
    co_await server.close();
  });
}

TEST(ModelServices, KeepNobodyWaitingForAListThatCannotBeRequested) {
#if __has_feature(undefined_behavior_sanitizer)
  GTEST_SKIP() << "the sanitizer checks objects by means of a descriptor of its own";
#endif
  with_services({}, [](ModelServicesFixture& fixture, Loop&) -> Task<> {
    co_await fixture.connect("mine", "http://127.0.0.1:1/v1", "${secret:KEY}");
    co_await fixture.blocking.run([] {});  // starts its threads
    const testing::NoDescriptors none;     // The secrets cannot be read.
    EXPECT_THAT(co_await fixture.services.list_json(false), Not(HasSubstr("m1")));
  });
}

TEST(ModelServices, StartWithAStoredListThatIsNotJson) {
  testing::run([](Loop& loop) -> Task<> {
    const testing::ScratchDirectory directory;
    const std::string place = "http://127.0.0.1:1/v1";
    {
      ModelServicesFixture fixture(loop, directory, {});
      co_await fixture.connect("mine", place);
      co_await fixture.database.write([place](Connection& connection) {
        model_service_store::put_list(connection,
                                      {"mine", "openai " + place, R"([{"id":"m","prices":{"input":nan}}])"});
      });
      co_await fixture.services.stop();
    }
    ModelServicesFixture fixture(loop, directory, {});
    EXPECT_EQ(fixture.models.lists("mine", "m"), std::nullopt);
    co_await fixture.services.stop();
  });
}

}  // namespace
}  // namespace agw
