#include "models/model_listing.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/service_definition.hpp"
#include "testing/loopback_server.hpp"
#include "testing/run.hpp"

namespace agw {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::LoopbackServer;

std::vector<ModelEntry> listed(ProviderKind kind, std::string_view body) {
  const auto page = read_listing(kind, body);
  EXPECT_TRUE(page.is_list);
  return page.models;
}

TEST(ModelListing, ReadsWhatOpenRouterSays) {
  const auto models =
      listed(ProviderKind::openai,
             R"({"data":[{"id":"a/b","context_length":131072,"top_provider":{"max_completion_tokens":4096},)"
             R"("architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools","temperature"],)"
             R"("pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003"}},)"
             R"({"id":"router","pricing":{"prompt":"-1","completion":"-1"}}]})");
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].id, "a/b");
  EXPECT_EQ(models[0].context_window, 131072);
  EXPECT_EQ(models[0].max_output, 4096);
  EXPECT_EQ(models[0].vision, true);
  EXPECT_EQ(models[0].tools, true);
  ASSERT_TRUE(models[0].prices);
  EXPECT_DOUBLE_EQ(models[0].prices->input, 3);
  EXPECT_DOUBLE_EQ(models[0].prices->output, 15);
  EXPECT_DOUBLE_EQ(models[0].prices->cache_read, 0.3);
  EXPECT_EQ(models[1].prices, std::nullopt);
}

TEST(ModelListing, TakesNoPriceThatIsNoAmountOfMoney) {
  for (const auto* price : {R"("nan")", R"("-nan")", R"("inf")", R"("1e308")", "1e308", R"("2")"}) {
    const auto models = listed(
        ProviderKind::openai,
        fmt::format(R"({{"data":[{{"id":"a","pricing":{{"prompt":{0},"completion":"0.1"}}}},)"
                    R"({{"id":"b","pricing":{{"prompt":"0.000003","completion":"0","input_cache_read":{0}}}}}]}})",
                    price));
    EXPECT_EQ(models.at(0).prices, std::nullopt) << price;
    EXPECT_DOUBLE_EQ(models.at(1).prices.value().cache_read, 3) << price << ": as other input";
  }
}

TEST(ModelListing, ReadsTheFormsOfOtherServices) {
  const auto mistral = listed(
      ProviderKind::openai,
      R"({"object":"list","data":[{"id":"m","max_context_length":32768,"capabilities":{"completion_chat":true,"vision":false,"function_calling":true}},{"id":"embed","capabilities":{"completion_chat":false}}]})");
  ASSERT_EQ(mistral.size(), 1u);
  EXPECT_EQ(mistral[0], (ModelEntry{.id = "m", .context_window = 32768, .vision = false, .tools = true}));
  EXPECT_EQ(listed(ProviderKind::openai, R"({"data":[{"id":"v","max_model_len":8192}]})")[0].context_window, 8192);
  EXPECT_EQ(listed(ProviderKind::openai, R"({"data":[{"id":"l","meta":{"n_ctx_train":4096}}]})")[0].context_window,
            4096);
  EXPECT_EQ(listed(ProviderKind::openai, R"([{"id":"t","type":"chat"},{"id":"x","type":"embedding"}])").size(), 1u);
  const auto github = listed(
      ProviderKind::openai,
      R"([{"id":"openai/gpt-4.1","limits":{"max_input_tokens":1048576,"max_output_tokens":32768},"supported_input_modalities":["text","image"]}])");
  EXPECT_EQ(github[0],
            (ModelEntry{.id = "openai/gpt-4.1", .context_window = 1048576, .max_output = 32768, .vision = true}));
  const auto ollama =
      listed(ProviderKind::ollama, R"({"models":[{"name":"qwen3:latest","capabilities":["completion","tools"]}]})");
  EXPECT_EQ(ollama[0], (ModelEntry{.id = "qwen3:latest", .tools = true}));
}

TEST(ModelListing, NamesTheOwnerOfTheFirstModelThatHasOne) {
  const auto owner = [](const char* body) { return read_listing(ProviderKind::openai, body).owner; };
  EXPECT_EQ(owner(R"({"data":[{"id":"m","owned_by":"llamacpp"},{"id":"n","owned_by":"else"}]})"), "llamacpp");
  EXPECT_EQ(owner(R"({"data":[{"id":"m"},{"id":"n","owned_by":null}]})"), "");
}

TEST(ModelListing, ReadsPages) {
  const auto anthropic = read_listing(
      ProviderKind::anthropic,
      R"({"data":[{"type":"model","id":"claude-x","max_input_tokens":1000000,"max_tokens":128000}],"has_more":true,"last_id":"claude-x"})");
  EXPECT_EQ(anthropic.next, "claude-x");
  EXPECT_EQ(anthropic.models[0].context_window, 1000000);
  const auto gemini = read_listing(
      ProviderKind::gemini,
      R"({"models":[{"name":"models/gemini-x","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"]},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}],"nextPageToken":"p2"})");
  EXPECT_EQ(gemini.next, "p2");
  ASSERT_EQ(gemini.models.size(), 1u);
  EXPECT_EQ(gemini.models[0].id, "gemini-x");
}

TEST(ModelListing, IsWhereEachServiceHasIt) {
  const auto of = [](const char* base, ProviderKind kind = ProviderKind::openai) {
    return list_url({.kind = kind, .base_url = base});
  };
  EXPECT_EQ(of("https://models.github.ai/inference"), "https://models.github.ai/catalog/models");
  EXPECT_EQ(of("https://models.github.ai.evil.example/inference"),
            "https://models.github.ai.evil.example/inference/models");
  EXPECT_EQ(of("https://api.cohere.ai/compatibility/v1"),
            "https://api.cohere.ai/v1/models?endpoint=chat&page_size=1000");
  EXPECT_EQ(of("https://mine.openai.azure.com/openai/deployments/{model}?api-version=2024-10-21"),
            "https://mine.openai.azure.com/openai/models?api-version=2024-10-21");
  for (const auto* base :
       {"https://api.x.ai/v1", "https://api.together.ai/v1", "https://api.fireworks.ai/inference/v1",
        "https://api.cerebras.ai/v1", "https://mine.openai.azure.com/openai/v1",
        "https://bedrock-mantle.us-east-1.api.aws/v1", "http://127.0.0.1:1234/v1", "http://127.0.0.1:8000/v1"}) {
    EXPECT_EQ(of(base), std::string(base) + "/models");
  }
  EXPECT_EQ(of("http://127.0.0.1:11434", ProviderKind::ollama), "http://127.0.0.1:11434/api/tags");
  EXPECT_EQ(of("https://api.anthropic.com", ProviderKind::anthropic), "https://api.anthropic.com/v1/models?limit=1000");
}

TEST(ModelListing, LeavesOutWhatIsNoModel) {
  EXPECT_FALSE(read_listing(ProviderKind::openai, "<html>").is_list);
  EXPECT_FALSE(read_listing(ProviderKind::openai, R"({"hello":1})").is_list);
  EXPECT_FALSE(read_listing(ProviderKind::gemini, R"({"data":[]})").is_list);
  EXPECT_FALSE(read_listing(ProviderKind::ollama, R"({"data":[]})").is_list);
  const auto long_id = std::string(300, 'x');
  const auto models = listed(
      ProviderKind::openai,
      fmt::format(R"({{"data":[1,{{"id":7}},{{"id":"a\nb"}},{{"id":"{}"}},{{"id":"m"}},{{"id":"m"}}]}})", long_id));
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models[0].id, "m");
}

TEST(ModelListing, IsBounded) {
  std::string body = R"({"data":[)";
  for (int i = 0; i < 50'100; ++i) body += fmt::format(R"({}{{"id":"m{}"}})", i == 0 ? "" : ",", i);
  EXPECT_EQ(listed(ProviderKind::openai, body + "]}").size(), max_listed_models);
}

TEST(ModelListing, AServiceThatNeverAnswersIsGivenUp) {
  testing::run([](Loop& loop) -> Task<> {
    LoopbackServer server(loop, {}, LoopbackServer::After::wait);
    HttpClient http(loop);
    BlockingPool blocking(loop);
    StopSource stop;
    const auto listing =
        co_await list_models(http, blocking, {.base_url = server.url("/v1"), .api_key = "a-key-of-ours"}, stop, 50ms);
    EXPECT_THAT(listing.error, HasSubstr("did not answer within 0.05 s"));
    co_await server.close();
  });
}

TEST(ServiceAddress, IsOfTheWebAndHoldsNoCredentials) {
  EXPECT_EQ(address_problem("https://api.example.com/v1"), "");
  EXPECT_EQ(address_problem("http://127.0.0.1:11434"), "");
  EXPECT_EQ(address_problem("https://a.openai.azure.com/openai/deployments/{model}?api-version=2024-10-21"), "");
  EXPECT_THAT(address_problem("api.example.com"), HasSubstr("http or https"));
  EXPECT_THAT(address_problem("file:///etc/passwd"), HasSubstr("http or https"));
  EXPECT_THAT(address_problem("https://<resource>.example"), HasSubstr("http or https"));
  EXPECT_THAT(address_problem("https://u:p@example.com"), HasSubstr("keep the key as a secret"));
  EXPECT_THAT(address_problem("https://example.com/v1?api_key=x"), HasSubstr("keep the key as a secret"));
}

TEST(ServiceAddress, IsNoMetadataService) {
  for (const auto* address : {"http://169.254.169.254", "http://169.254.170.2/v1", "http://[fe80::1]/",
                              "http://[fd00:ec2::254]", "http://[::ffff:169.254.169.254]", "http://100.100.100.200",
                              "http://metadata.google.internal", "http://METADATA.google.internal./x"}) {
    EXPECT_NE(address_problem(address), "") << address;
  }
}

TEST(ServiceKey, FitsAHeader) {
  EXPECT_EQ(key_problem("sk-abc"), "");
  EXPECT_THAT(key_problem("sk-abc\n"), HasSubstr("line end"));
  EXPECT_THAT(key_problem("sk-abc\r\nx: y"), HasSubstr("line end"));
  EXPECT_THAT(key_problem("two words"), HasSubstr("spaces"));
  EXPECT_THAT(key_problem(""), HasSubstr("empty"));
}

}  // namespace
}  // namespace agw
