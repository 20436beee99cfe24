#include "features/extensions/validation.hpp"

#include <gtest/gtest.h>

#include "api/error.hpp"

namespace agw {
namespace {

json::object json_object(std::string_view text) { return parse_json(text)->as_object(); }

/// The error that `read` throws, followed by its details as `path: message`.
std::string error_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const BadRequest& error) {
    std::string text = error.error();
    if (const auto* details = error.extra().if_contains("details")) {
      for (const auto& problem : details->as_array()) {
        text +=
            "; " + std::string(problem.at("path").as_string()) + ": " + std::string(problem.at("message").as_string());
      }
    }
    return text;
  }
  return "";
}

std::string post(std::string_view body) {
  return error_of([&] { read_new_extension(json_object(body)); });
}

std::string patch(std::string_view body, ExtensionType type = ExtensionType::command) {
  return error_of([&] { read_extension_change(json_object(body), type); });
}

/// POSTs an extension of the type with that definition.
std::string define(std::string_view type, std::string_view definition) {
  return post(R"({"type":")" + std::string(type) + R"(","name":"a","description":"","definition":)" +
              std::string(definition) + "}");
}

std::string trigger(std::string_view definition) {
  return post(R"({"type":"theme","name":"a","description":"","definition":{},"trigger_def":)" +
              std::string(definition) + "}");
}

constexpr std::string_view kebab = "name must be kebab-case (a-z, 0-9, hyphens)";

TEST(ExtensionNames, AreKebabCaseOfAtMost64CharactersAndNoUuid) {
  for (const auto* name : {"a", "0", "a-b", "my-2nd-job", "a1"}) EXPECT_TRUE(is_extension_name(name)) << name;
  EXPECT_TRUE(is_extension_name(std::string(64, 'a')));
  for (const auto* name : {"", "-", "-a", "a-", "a--b", "A", "a.b", "a b", "a_b", "a/b", "..", "é", "a\n",
                           "018c5b1e-1b1c-7c3d-8e4f-123456789abc"}) {
    EXPECT_FALSE(is_extension_name(name)) << name;
  }
  EXPECT_FALSE(is_extension_name(std::string(65, 'a')));
  EXPECT_FALSE(is_extension_name(std::string(10'000, 'a')));
  EXPECT_FALSE(is_extension_name(std::string_view("a\0", 2)));
}

TEST(NewExtensions, HaveTheirNameCheckedFirst) {
  EXPECT_EQ(post(R"({"name":"Bad","type":7})"), kebab);
  EXPECT_EQ(post(R"({"name":5})"), kebab);
  EXPECT_EQ(post(R"({"name":""})"), kebab);
  EXPECT_EQ(post(R"({"name":["a"]})"), kebab);
  EXPECT_EQ(post(R"({"type":7})"), "name is required");
  EXPECT_EQ(post(R"({"name":null})"), "name is required");
}

TEST(NewExtensions, NameTheFirstMemberThatIsMissing) {
  EXPECT_EQ(post(R"({"name":"a"})"), "type is required");
  EXPECT_EQ(post(R"({"name":"a","type":"theme","definition":{}})"), "description is required");
  EXPECT_EQ(post(R"({"name":"a","type":"theme","description":""})"), "definition is required");
  EXPECT_EQ(post(R"({"name":"a","type":"theme","description":"","definition":null})"), "definition is required");
  EXPECT_EQ(post(R"({"name":"a","type":5})"), "description is required");
}

TEST(NewExtensions, FailValidationWithEveryProblemNamed) {
  EXPECT_EQ(post(R"({"name":"a","type":"thing","description":1,"definition":[],"enabled":"yes","source":"me",
                     "trigger_def":5})"),
            "validation failed"
            "; type: type must be one of command, agent, job, app, theme, renderer, integration, action, widget, "
            "artifact, capability, control, not thing"
            "; description: description must be a string"
            "; definition: definition must be a object"
            "; trigger_def: trigger_def must be a object"
            "; source: source must be one of user, agent, community, not me"
            "; enabled: enabled must be a boolean");
  EXPECT_EQ(post(R"({"name":"a","type":"theme","description":"","definition":{},"source":"built-in"})"),
            "validation failed; source: source must be one of user, agent, community, not built-in");
}

TEST(NewExtensions, TreatNullAndUnknownMembersAsOmitted) {
  EXPECT_EQ(post(R"({"name":"a","type":"theme","description":"","definition":{"colors":null,"new":[1]},
                     "trigger_def":null,"source":null,"enabled":null,"owner_agent_id":null,"id":5})"),
            "");
}

TEST(NewExtensions, HaveAnOwnerOnlyWhenAnAgentMadeThem) {
  const auto owner = [](std::string_view source) {
    return read_new_extension(json_object(R"({"name":"a","type":"theme","description":"","definition":{},"source":")" +
                                          std::string(source) + R"(","owner_agent_id":"x"})"))
        .owner_agent_id;
  };
  EXPECT_EQ(owner("agent"), "x");
  EXPECT_FALSE(owner("user"));
  EXPECT_EQ(post(R"({"name":"a","type":"theme","description":"","definition":{},"owner_agent_id":5})"), "");
  EXPECT_EQ(post(R"({"name":"a","type":"theme","description":"","definition":{},"source":"agent","owner_agent_id":5})"),
            "validation failed; owner_agent_id: owner_agent_id must be a string");
}

TEST(Definitions, NeedWhatTheirTypeRequires) {
  EXPECT_EQ(define("command", "{}"), "validation failed; definition.prompt: definition.prompt is required");
  EXPECT_EQ(define("command", R"({"prompt":5})"),
            "validation failed; definition.prompt: definition.prompt must be a string");
  EXPECT_EQ(define("job", R"({"prompt":"x"})"),
            "validation failed; definition.agent_id: definition.agent_id is required");
  EXPECT_EQ(define("job", R"({"agent_id":"x"})"),
            "validation failed; definition: definition must have one of prompt_file, prompt, schedule");
  for (const auto* definition : {R"({"agent_id":"x","prompt":""})", R"({"agent_id":"x","prompt_file":"a/../b.md"})",
                                 R"({"agent_id":"x","schedule":"@daily"})"}) {
    EXPECT_EQ(define("job", definition), "") << definition;
  }
  for (const auto* type :
       {"agent", "app", "theme", "renderer", "integration", "action", "widget", "artifact", "capability", "control"}) {
    EXPECT_EQ(define(type, "{}"), "") << type;
  }
}

TEST(Definitions, KeepWhatOnlyIntegrationsOfAnotherKindKnow) {
  EXPECT_EQ(
      define("integration", R"({"kind":"http","url":"https://a.example","service":"github","models":"x","hosts":7})"),
      "");
  EXPECT_EQ(define("integration", R"({"kind":"mcp-http","url":"https://a.example","token":[],"user":{}})"), "");
  for (const auto* definition :
       {R"({"kind":"mcp-stdio","command":"x","hosts":7})", R"({"kind":"browser","hosts":7})"}) {
    EXPECT_EQ(define("integration", definition),
              "validation failed; definition.hosts: definition.hosts must be an array");
  }
  EXPECT_EQ(define("integration", R"({"kind":"browser","hosts":["localhost:5173"]})"), "");
}

TEST(Definitions, HaveTheTypeOfEveryKnownMemberChecked) {
  const std::vector<std::tuple<std::string_view, std::string_view, std::string_view>> wrong = {
      {"agent", R"({"systemPrompt":1})", "definition.systemPrompt must be a string"},
      {"agent", R"({"tools":"Read"})", "definition.tools must be an array or null"},
      {"agent", R"({"fallback_models":[1]})", "definition.fallback_models[0] must be a string"},
      {"agent", R"({"max_steps":1.5})", "definition.max_steps must be a whole number"},
      {"agent", R"({"max_steps":0})", "definition.max_steps must be at least 1"},
      {"agent", R"({"mode":"quick"})", "definition.mode must be one of plan, act"},
      {"agent", R"({"temperature":"hot"})", "definition.temperature must be a number"},
      {"agent", R"({"sandbox":{"network":"no"}})", "definition.sandbox.network must be a boolean"},
      {"app", R"({"type":"ruby"})", "definition.type must be one of node, vite, python, command, static"},
      {"app", R"({"port":65536})", "definition.port must be at most 65535"},
      {"app", R"({"env":{"A":1}})", "definition.env.A must be a string"},
      {"integration", R"({"kind":"soap"})",
       "definition.kind must be one of mcp-stdio, mcp-http, openapi, http, browser, model, channel"},
      {"integration", R"({"args":"-v"})", "definition.args must be an array"},
      {"action", R"({"kind":"magic"})", "definition.kind must be one of http, shell, prompt, mcp, builtin"},
      {"action", R"({"destructive":"yes"})", "definition.destructive must be a boolean"},
      {"theme", R"({"dark":"yes"})", "definition.dark must be a boolean"},
      {"theme", R"({"colors":{"text":"url(x);"}})",
       "definition.colors.text must be a CSS colour such as #1e1e2e, navy or rgb(30 30 46)"},
      {"renderer", R"({"match":{"mime":1}})", "definition.match.mime must be a string"},
      {"widget", R"({"refresh_s":"1"})", "definition.refresh_s must be a number"},
      {"artifact", R"({"schema":true})", "definition.schema must be an object"},
      {"capability", R"({"stage":"god"})", "definition.stage must be one of apprentice, operator, trusted, sovereign"},
      {"capability", R"({"hosts":"*"})", "definition.hosts must be an array"},
      {"control", R"({"controls":[{"kind":"slider","label":"a","action":"b"}]})",
       "definition.controls[0].kind must be one of button, toggle, form"},
      {"control", R"({"controls":[{"kind":"button","label":"a"}]})", "definition.controls[0].action is required"},
  };
  for (const auto& [type, definition, message] : wrong) {
    const auto error = define(type, definition);
    EXPECT_TRUE(error.starts_with("validation failed; ") && error.ends_with(message)) << error;
  }
}

TEST(Definitions, OfJobsKeepTheirPromptFileInTheirDirectory) {
  for (const auto* file : {"/etc/passwd", "..", "../x", "a/../../x", "prompt.md\\u0000"}) {
    EXPECT_EQ(define("job", R"({"agent_id":"x","prompt_file":")" + std::string(file) + "\"}"),
              "path traversal not allowed")
        << file;
  }
}

TEST(Triggers, AreOfThreeTypesEachWithWhatItNeeds) {
  EXPECT_EQ(trigger(R"({"type":"cron","expression":"0 9 * * *","timezone":"Europe/Berlin"})"), "");
  EXPECT_EQ(trigger(R"({"type":"event","event":"turn.created","filter":{"role":"user"},"more":1})"), "");
  EXPECT_EQ(trigger(R"({"type":"webhook"})"), "");
  const std::string failed = "validation failed; ";
  EXPECT_EQ(trigger(R"({})"), failed + "trigger_def.type: trigger_def.type must be one of cron, event, webhook");
  EXPECT_EQ(trigger(R"({"type":"timer"})"),
            failed + "trigger_def.type: trigger_def.type must be one of cron, event, webhook");
  EXPECT_EQ(trigger(R"({"type":"cron"})"), failed + "trigger_def.expression: trigger_def.expression is required");
  EXPECT_EQ(trigger(R"({"type":"event","filter":[]})"),
            failed +
                "trigger_def.event: trigger_def.event is required"
                "; trigger_def.filter: trigger_def.filter must be a object");
  EXPECT_EQ(trigger(R"({"type":"event","event":""})"),
            failed +
                "trigger_def.event: trigger_def.event must be one of extension.created, extension.updated, "
                "extension.deleted, thread.created, turn.created, proposal.created, proposal.applied, "
                "proposal.rejected, job.completed, job.failed, gateway.started, signal.<kind>");
  EXPECT_EQ(trigger(R"({"type":"event","event":"signal.disk-low"})"), "");
  EXPECT_NE(trigger(R"({"type":"event","event":"signal."})"), "");
  EXPECT_NE(trigger(R"({"type":"event","event":"deploy.finished"})"), "");
  EXPECT_EQ(trigger(R"({"type":"webhook","secret":5})"),
            failed + "trigger_def.secret: trigger_def.secret must be a string");
}

TEST(Triggers, OfCronHaveAnExpressionThatFiresAndAZoneThatExists) {
  const auto cron = [](std::string_view more) { return trigger(R"({"type":"cron",)" + std::string(more) + "}"); };
  EXPECT_EQ(cron(R"("expression":"*/10 * * * * *")"), "");
  EXPECT_EQ(cron(R"("expression":"@daily","timezone":null)"), "");
  const std::string failed = "validation failed; ";
  EXPECT_EQ(cron(R"("expression":"61 * * * *")"),
            failed +
                "trigger_def.expression: trigger_def.expression must be a cron expression: "
                "minute: \"61\" is not of 0 to 59");
  EXPECT_EQ(cron(R"("expression":"0 0 30 2 *","timezone":"Mars/Olympus")"),
            failed +
                "trigger_def.expression: trigger_def.expression must be a cron expression: never fires"
                "; trigger_def.timezone: trigger_def.timezone must be an IANA time zone such as Europe/Berlin");
  EXPECT_EQ(cron(R"("expression":"")").substr(0, 17), "validation failed");
}

TEST(Definitions, OfJobsHaveAScheduleThatFires) {
  EXPECT_EQ(define("job", R"({"agent_id":"x","schedule":"0 9 * * MON-FRI"})"), "");
  EXPECT_EQ(define("job", R"({"agent_id":"x","schedule":"0 0 31 4 *"})"),
            "validation failed; definition.schedule: definition.schedule must be a cron expression: never fires");
}

TEST(ExtensionChanges, AreValidatedByTheSameRules) {
  EXPECT_EQ(patch("{}"), "");
  EXPECT_EQ(patch(R"({"name":null,"description":null,"definition":null,"enabled":null,"trigger":null})"), "");
  EXPECT_EQ(patch(R"({"name":"Bad","enabled":5})"), kebab);
  EXPECT_EQ(patch(R"({"definition":{}})"), "validation failed; definition.prompt: definition.prompt is required");
  EXPECT_EQ(patch(R"({"definition":"x","description":5,"enabled":1,"trigger":[]})"),
            "validation failed; description: description must be a string; definition: definition must be a object"
            "; trigger: trigger must be a object; enabled: enabled must be a boolean");
  EXPECT_EQ(patch(R"({"trigger":{"type":"cron"}})"),
            "validation failed; trigger.expression: trigger.expression is required");
  EXPECT_EQ(patch(R"({"definition":{"agent_id":"x","prompt_file":"../x"}})", ExtensionType::job),
            "path traversal not allowed");
}

TEST(ExtensionChanges, MayLeaveOutWhatTheTypeRequires) {
  const auto partial = [](std::string_view body, ExtensionType type) {
    return error_of([&] { read_extension_change(json_object(body), type, RequiredMembers::may_be_missing); });
  };
  EXPECT_EQ(partial(R"({"definition":{}})", ExtensionType::command), "");
  EXPECT_EQ(partial(R"({"definition":{"prompt":"x"}})", ExtensionType::job), "");
  EXPECT_EQ(partial(R"({"definition":{"prompt":5}})", ExtensionType::command),
            "validation failed; definition.prompt: definition.prompt must be a string");
}

TEST(ExtensionChanges, NameTheVersionThatTheyWereMadeFromAsATimestamp) {
  EXPECT_EQ(patch(R"({"if_updated_at":"2026-01-02T03:04:05.678Z"})"), "");
  EXPECT_EQ(patch(R"({"if_updated_at":"yesterday"})"), "if_updated_at must be an ISO 8601 timestamp");
  EXPECT_EQ(patch(R"({"if_updated_at":5})"), "validation failed; if_updated_at: if_updated_at must be a string");
}

}  // namespace
}  // namespace agw
