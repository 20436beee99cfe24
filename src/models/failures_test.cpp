#include "models/failures.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

using namespace std::chrono_literals;
using Kind = ModelFailure::Kind;

Kind kind(int status, std::string_view body = {}, std::vector<HttpHeader> headers = {}) {
  return response_failure({status, std::move(headers)}, parse_provider_error(body), {}).kind;
}

TEST(Failures, AreClassifiedByStatusFirst) {
  for (const int status : {400, 401, 402, 403, 404, 413, 422}) EXPECT_EQ(kind(status), Kind::refused) << status;
  for (const int status : {408, 409, 500, 502, 503, 504, 529}) EXPECT_EQ(kind(status), Kind::unavailable) << status;
  EXPECT_EQ(kind(429), Kind::rate_limited);
  EXPECT_EQ(kind(500, R"({"error":{"type":"invalid_request_error","message":"x"}})"), Kind::unavailable);
}

TEST(Failures, AnExhaustedQuotaIsNotRetried) {
  EXPECT_EQ(kind(429, R"({"error":{"type":"insufficient_quota","message":"You exceeded your current quota"}})"),
            Kind::refused);
  EXPECT_EQ(kind(429, R"({"error":{"type":"x","code":"organization_spend_limit_exceeded","message":"m"}})"),
            Kind::refused);
  EXPECT_EQ(
      kind(429,
           R"({"error":{"type":"rate_limit_error","message":"You have reached your specified API usage limits."}})"),
      Kind::refused);
  EXPECT_EQ(kind(429, R"({"error":{"code":"rate_limit_exceeded","message":"m"}})"), Kind::rate_limited);
}

TEST(Failures, ReadNestedErrors) {
  const auto message = [](std::string_view body) { return parse_provider_error(body).message; };
  EXPECT_EQ(
      message(R"({"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"Tool call id was a"}}})"),
      "Provider returned error: Tool call id was a");
  EXPECT_EQ(message(R"({"object":"error","message":{"detail":[{"loc":["body","seed"]}]},"type":"invalid_request"})"),
            R"({"object":"error","message":{"detail":[{"loc":["body","seed"]}]},"type":"invalid_request"})");
  EXPECT_EQ(message(R"({"message":null,"detail":"Not Found"})"), "Not Found");
  EXPECT_EQ(message("[{\n  \"error\": {\"code\": 400, \"message\": \"API key not valid.\"}\n}\n]\n"),
            "API key not valid.");
  for (const auto* other : {"[", "]", "[]", "[{}, 1]", "[\"x\"]"}) EXPECT_EQ(message(other), other);
}

TEST(Failures, StateWhetherAShorterRequestMayBeAnswered) {
  const auto too_long = [](int status, std::string_view body) {
    return response_failure({status, {}}, parse_provider_error(body), {}).too_long;
  };
  for (
      const auto* body : {
          R"({"error":{"message":"m","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})",
          R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}})",
          R"({"error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"}})",
          R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}})",
          R"({"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400})",
          R"({"error":{"message":"This endpoint's maximum context length is 8192 tokens.","code":400}})",
          R"({"error":"This model's maximum prompt length is 131072 but the request contains 531812 tokens."})",
          R"({"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed"}})",
          R"({"error":"{\"error\":{\"code\":400,\"message\":\"request (351 tokens) exceeds the available context size\"}}"})",
          R"({"error":{"message":"Your request exceeded model token limit: 131072 (requested: 150000)."}})",
          R"({"error":{"code":"1261","message":"Prompt exceeds max length"}})",
          R"({"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000"}})",
          R"({"error":{"message":"prompt token count of 130000 exceeds the limit of 128000"}})",
      }) {
    EXPECT_TRUE(too_long(400, body)) << body;
  }
  EXPECT_TRUE(too_long(413, R"({"error":{"message":"Request too large, please reduce your message size"}})"));
  EXPECT_TRUE(stream_failure(parse_provider_error(R"({"code":"context_length_exceeded","message":"m"})")).too_long);

  EXPECT_FALSE(too_long(400, R"({"error":{"type":"invalid_request_error","message":"max_tokens is too large"}})"));
  // Anthropic means the size in bytes, of images, not the length of the conversation.
  EXPECT_FALSE(too_long(413, R"({"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}})"));
  EXPECT_FALSE(too_long(401, R"({"error":{"message":"invalid x-api-key"}})"));
  EXPECT_FALSE(too_long(429, R"({"error":{"message":"tokens per minute: please reduce your message size"}})"));
  EXPECT_FALSE(stream_failure(parse_provider_error(R"({"type":"overloaded_error","message":"Overloaded"})")).too_long);
}

TEST(Failures, InAStreamHaveTheStatusOfTheirText) {
  const auto status = [](const char* error) { return stream_failure(parse_provider_error(error)).status; };
  EXPECT_EQ(status(R"({"type":"overloaded_error","message":"Overloaded"})"), 529);
  EXPECT_EQ(status(R"({"type":"rate_limit_error","message":"m"})"), 429);
  EXPECT_EQ(status(R"({"code":503,"message":"m"})"), 503);
  EXPECT_EQ(status(R"({"type":"api_error","message":"m"})"), 0);
}

TEST(Failures, AreNotTriedAgainWhereTheRequestIsTooLong) {
  EXPECT_EQ(kind(500, R"({"error":{"message":"the request exceeds the available context size"}})"), Kind::refused);
  EXPECT_EQ(kind(400, R"({"error":{"code":"context_length_exceeded"}})", {{"x-should-retry", "true"}}), Kind::refused);
  EXPECT_EQ(kind(429, R"({"error":{"message":"context length"}})"), Kind::rate_limited);
}

TEST(Failures, FollowTheProvidersOwnWord) {
  EXPECT_EQ(kind(500, {}, {{"x-should-retry", "false"}}), Kind::refused);
  EXPECT_EQ(kind(400, {}, {{"x-should-retry", "true"}}), Kind::unavailable);
}

TEST(Failures, NameTheCauseWhateverItsForm) {
  const auto message = [](std::string_view body) { return parse_provider_error(body).message; };
  EXPECT_EQ(message(R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"), "Overloaded");
  EXPECT_EQ(message(R"({"error":"model 'x' not found"})"), "model 'x' not found");
  EXPECT_EQ(message(R"({"error":"{\"error\":{\"code\":400,\"message\":\"too many\"}}"})"), "too many");
  EXPECT_EQ(message(R"({"error":"{no JSON"})"), "{no JSON");
  EXPECT_EQ(message(R"({"detail":"Not Found"})"), "Not Found");
  EXPECT_EQ(message(R"({"message":"no such route"})"), "no such route");
  EXPECT_EQ(message(R"({"detail":[{"msg":"bad"}]})"), R"({"detail":[{"msg":"bad"}]})");
  EXPECT_EQ(message("  upstream\r\nconnect error "), "upstream  connect error");
  EXPECT_EQ(message("<html><head><TITLE>502 Bad Gateway</TITLE></head>"), "502 Bad Gateway");
  EXPECT_EQ(message("<!doctype html><p>oh"), "a web page");
  EXPECT_EQ(message(""), "");
  EXPECT_EQ(message("\xff"), "\xef\xbf\xbd");
}

TEST(Failures, KeepMessagesShort) {
  const auto message = parse_provider_error(std::string(599, 'x') + "🔎 and so on").message;
  EXPECT_EQ(message, std::string(599, 'x') + "…");
}

TEST(Failures, StateStatusAndCause) {
  const auto failure =
      response_failure({401, {}}, parse_provider_error(R"({"error":{"message":"invalid x-api-key"}})"), {});
  EXPECT_EQ(failure.message, "answered 401: invalid x-api-key (check its API key)");
  EXPECT_EQ(failure.status, 401);
}

TEST(Failures, StateTheRemedyForTooManyTools) {
  const auto refused = parse_provider_error(
      R"({"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128.",
                   "type":"invalid_request_error","param":"tools","code":"array_above_max_length"}})");
  EXPECT_EQ(response_failure({400, {}}, refused, {}).message,
            "answered 400: Invalid 'tools': array too long. Expected an array with maximum length 128. (name the ones "
            "needed in the agent's tools or an integration's allowed_tools)");
}

TEST(Failures, NameTheTargetOfARedirect) {
  const auto moved = [](int status, std::string location) {
    return response_failure({status, {{"location", std::move(location)}}}, parse_provider_error("Moved."), {}).message;
  };
  EXPECT_EQ(moved(307, "https://new.example/v1/chat"),
            "answered 307: it moved to https://new.example/v1/chat; check base_url");
  EXPECT_EQ(moved(301, "https://me:secret@new.example:8443/v1?key=secret#secret"),
            "answered 301: it moved to https://new.example:8443/v1; check base_url");
  EXPECT_EQ(moved(302, "/login?next=x"), "answered 302: it moved to /login; check base_url");
  EXPECT_EQ(moved(302, "not a url"), "answered 302: Moved.");
  EXPECT_EQ(moved(404, "https://new.example/"), "answered 404: Moved.");
}

TEST(Failures, ReadHowLongToWait) {
  const auto now = *parse_iso8601("2026-10-21T07:28:00Z");
  const auto wait = [&](std::string name, std::string value) {
    return retry_after({429, {{std::move(name), std::move(value)}}}, now);
  };
  EXPECT_EQ(wait("retry-after", "2"), 2s);
  EXPECT_EQ(wait("retry-after", "0.25"), 250ms);
  EXPECT_EQ(wait("retry-after-ms", "1500"), 1500ms);
  EXPECT_EQ(wait("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"), 30s);
  EXPECT_EQ(wait("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), 0s);
  EXPECT_EQ(wait("retry-after", "soon"), std::nullopt);
  EXPECT_EQ(wait("retry-after", "-1"), std::nullopt);
  EXPECT_EQ(wait("x", "1"), std::nullopt);
}

TEST(Failures, OfGeminiWaitForTheNextMinuteButNotForTheNextDay) {
  const auto failure = [](std::string quota) {
    const auto body =
        R"({"error":{"code":429,"message":"You exceeded your current quota. Please retry in 34.5s.",)"
        R"("status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure",)"
        R"("violations":[{"quotaId":")" +
        quota + R"("}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}})";
    return response_failure({429, {}}, parse_provider_error(body), {});
  };
  const auto of_minute = failure("GenerateRequestsPerMinutePerProjectPerModel-FreeTier");
  EXPECT_EQ(of_minute.kind, Kind::rate_limited);
  EXPECT_EQ(of_minute.retry_after, 34'500ms);
  EXPECT_EQ(failure("GenerateRequestsPerDayPerProjectPerModel-FreeTier").kind, Kind::refused);
}

TEST(Redact, TakesOutKeysAndPartsOfKeys) {
  const std::string key = "abcdefgh-1234567890-wxyz";
  EXPECT_EQ(redact("Incorrect API key provided: " + key + ".", key), "Incorrect API key provided: [key].");
  EXPECT_EQ(redact("bad key abcd****************wxyz, sorry", key), "bad key [key], sorry");
  EXPECT_EQ(redact("bad key sk-proj-12345678.", ""), "bad key [key]");
  EXPECT_EQ(redact("bad key abcdefgh-1234", key), "bad key [key]");
  EXPECT_EQ(redact("key=" + key + "&x", key), "key=[key]&x");
  EXPECT_EQ(redact("model gpt-6.2-sol is überlastet", key), "model gpt-6.2-sol is überlastet");
}

TEST(Failures, TellWhetherAModelTakesNoTools) {
  for (const auto* text : {"registry.ollama.ai/library/smollm2:135m does not support tools",
                           "Tools is not supported in this model. For a list of supported models, refer to x",
                           "`tool calling` is not supported with this model", "Tool use is not supported",
                           "Function calling is not enabled for models/gemma"}) {
    EXPECT_TRUE(is_without_tools({.message = text})) << text;
  }
  // It has some, or a server has to be started in another way.
  for (const auto* text :
       {"does not support tool_choice=required", "No endpoints found that support tool use.",
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}) {
    EXPECT_FALSE(is_without_tools({.message = text})) << text;
  }
}

}  // namespace
}  // namespace agw
