#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "features/actions/kinds.hpp"
#include "features/actions/placeholders.hpp"

namespace agw {
namespace {

using ::testing::HasSubstr;

json::object action_object(std::string_view text) { return parse_json(text)->as_object(); }

std::string expand(std::string_view text) {
  std::string out(text);
  if (const auto at = out.find("${secret:KEY}"); at != std::string::npos) out.replace(at, 13, "hunter2");
  return out;
}

std::variant<WebRequest, ActionProblem> made(std::string_view definition, std::string_view input,
                                             Source source = Source::user) {
  Extension action;
  action.definition = action_object(definition);
  action.source = source;
  return http_action_request(action, action_object(input), expand);
}

WebRequest request(std::string_view definition, std::string_view input) {
  auto found = made(definition, input);
  const auto* problem = std::get_if<ActionProblem>(&found);
  EXPECT_EQ(problem, nullptr) << problem->text;
  return std::get<WebRequest>(found);
}

std::string url(std::string_view form, std::string_view input) {
  auto found = made(to_json(json::object{{"url", form}}), input);
  if (const auto* problem = std::get_if<ActionProblem>(&found)) return "! " + problem->text;
  return std::get<WebRequest>(found).url.text();
}

TEST(HttpAction, FillsItsUrl) {
  EXPECT_EQ(url("https://h.example/users/{{id}}", R"({"id": 42})"), "https://h.example/users/42");
  EXPECT_EQ(url("https://h.example/{{ a }}?q={{b}}", R"({"a": "x/y?z", "b": "1&c=2 ü"})"),
            "https://h.example/x%2Fy%3Fz?q=1%26c%3D2%20%C3%BC");
  EXPECT_EQ(url("https://h.example/{{a}}", R"({"a": "{{b}}", "b": "x"})"), "https://h.example/%7B%7Bb%7D%7D?b=x");
  EXPECT_EQ(url("https://h.example/{{a}}", "{}"), "https://h.example/");
}

TEST(HttpAction, KeepsItsSchemeHostAndPort) {
  for (const char* form : {"https://{{a}}/x", "{{a}}://h.example/", "{{a}}", "https://h.example:{{a}}/",
                           "https://h.example{{a}}", "https://{{a}}@h.example/"}) {
    EXPECT_THAT(url(form, R"({"a": "evil.example"})"), HasSubstr("which no input may change")) << form;
  }
  for (const char* input :
       {R"({"a": "@evil.example/"})", R"({"a": "//evil.example/"})", R"({"a": "\\\\evil.example"})",
        R"({"a": "http://evil.example"})", R"({"a": ":80@evil.example"})", R"({"a": "\r\nHost: evil"})"}) {
    EXPECT_TRUE(url("https://h.example/{{a}}", input).starts_with("https://h.example/")) << input;
  }
  EXPECT_EQ(url("https://h.example/users/{{a}}/x", R"({"a": ".."})"), "! a must not be ..");
}

TEST(HttpAction, SendsItsInputWithoutABody) {
  EXPECT_EQ(url("https://h.example/", R"({"a": "x y", "b": 2, "c": true, "d": null, "e": [1]})"),
            "https://h.example/?a=x%20y&b=2&c=true&e=%5B1%5D");
  const auto post = request(R"({"url": "https://h.example/", "method": "post"})", R"({"a": [1, "x"]})");
  EXPECT_EQ(post.method, "POST");
  EXPECT_EQ(post.body, R"({"a":[1,"x"]})");
  EXPECT_EQ(post.headers.at(0).value, "application/json");
  EXPECT_EQ(request(R"({"url": "https://h.example/", "method": "DELETE"})", R"({"a": 1})").url.target(), "/?a=1");
}

TEST(HttpAction, FillsItsBody) {
  EXPECT_EQ(request(R"({"url": "https://h.example/", "body": {"q": "{{q}}", "n": ["{{n}}", "n is {{n}}"]}})",
                    R"({"q": "a\", \"admin\": true, \"", "n": 5})")
                .body,
            R"({"q":"a\", \"admin\": true, \"","n":[5,"n is 5"]})");
  EXPECT_EQ(request(R"({"url": "https://h.example/", "body": "{\"q\": \"{{q}}\"}"})", R"({"q": "a\"b"})").body,
            R"({"q":"a\"b"})");
  EXPECT_EQ(request(R"({"url": "https://h.example/", "body": "q is {{q}}"})", R"({"q": "x&y"})").body, "q is x&y");
  EXPECT_EQ(request(R"({"url": "https://h.example/", "body": "q={{q}}",
                        "headers": {"content-type": "application/x-www-form-urlencoded"}})",
                    R"({"q": "x&y=z"})")
                .body,
            "q=x%26y%3Dz");
}

TEST(HttpAction, FillsATextThatIsJsonButForItsPlaceholders) {
  constexpr auto form = R"({"url": "https://h.example/", "body": "{\"v\": \"say \\\"{{q}}\\\"\", \"n\": {{n}}}"})";
  const auto found = request(form, R"({"q": "a\"b\n", "n": 5})");
  EXPECT_EQ(found.body, R"({"v":"say \"a\"b\n\"","n":5})");
  EXPECT_EQ(found.headers.at(0).value, "application/json");
  EXPECT_EQ(request(form, R"({"q": "x", "n": "1, \"admin\": true"})").body,
            R"({"v":"say \"x\"","n":"1, \"admin\": true"})");
  EXPECT_EQ(request(form, R"({"q": "x"})").body, R"({"v":"say \"x\"","n":null})");
  EXPECT_EQ(request(R"({"url": "https://h.example/", "body": "[{{level}}] {{text}}"})",
                    R"({"level": "warn", "text": "\"hot\""})")
                .body,
            R"([warn] "hot")");
  EXPECT_EQ(request(R"({"url": "https://h.example/", "body": "[{{a}}]", "headers": {"Content-Type": "text/plain"}})",
                    R"({"a": "x"})")
                .body,
            "[x]");
}

TEST(HttpAction, NoInputBreaksAHeader) {
  const auto fine = request(R"({"url": "https://h.example/", "headers": {"X-A": "v {{a}}"}})", R"({"a": "b"})");
  EXPECT_EQ(fine.origin_headers.at(0).value, "v b");
  for (const char* input : {R"({"a": "b\r\nX-Evil: 1"})", R"({"a": "b\nX-Evil: 1"})", R"({"a": "b\r"})"}) {
    const auto found = made(R"({"url": "https://h.example/", "headers": {"X-A": "{{a}}"}})", input);
    EXPECT_TRUE(std::holds_alternative<ActionProblem>(found)) << input;
  }
}

TEST(HttpAction, NoInputNamesASecret) {
  const auto found = request(R"({"url": "https://h.example/{{a}}?k=${secret:KEY}",
                                 "headers": {"Authorization": "Bearer ${secret:KEY}", "X-A": "{{a}}"}})",
                             R"({"a": "${secret:KEY}"})");
  EXPECT_EQ(found.url.target(), "/%24%7Bsecret%3AKEY%7D?k=hunter2");
  EXPECT_EQ(found.origin_headers.at(0).value, "Bearer hunter2");
  EXPECT_EQ(found.origin_headers.at(1).value, "${secret:KEY}");
}

TEST(HttpAction, OnlyAPersonsMayCallPrivateAddressesAndOnlyItsOwnHost) {
  const auto mine = request(R"({"url": "http://127.0.0.1:1/"})", "{}");
  EXPECT_TRUE(mine.may_be_private(*WebUrl::parse("http://127.0.0.1:2/")));
  EXPECT_FALSE(mine.may_be_private(*WebUrl::parse("http://169.254.169.254/")));
  for (const auto source : {Source::agent, Source::community, Source::built_in}) {
    EXPECT_FALSE(std::get<WebRequest>(made(R"({"url": "http://127.0.0.1:1/"})", "{}", source)).may_be_private);
  }
}

TEST(ShellAction, InputIsNeverAPieceOfTheCommand) {
  const auto call =
      shell_action_command("echo {{a}} \"{{ b }}\" {{a}}", action_object(R"~({"a": "; rm -rf /", "b": "$(id)"})~"));
  EXPECT_EQ(call.command, "echo ${AGW_INPUT_1} \"${AGW_INPUT_2}\" ${AGW_INPUT_1}");
  EXPECT_EQ(call.environment.at("AGW_INPUT_1"), "; rm -rf /");
  EXPECT_EQ(call.environment.at("AGW_INPUT_2"), "$(id)");
}

}  // namespace
}  // namespace agw
