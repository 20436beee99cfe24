#include <vector>

#include "features/events/types.hpp"
#include "server/documents/document_routes.hpp"

namespace agw {

namespace {

/// The subject of an event, which determines its ids and its subscribers.
enum class EventScope { run, thread, gateway };

/// A kind of message. Its members except `type` are given as the properties of a JSON Schema.
struct MessageKind {
  std::string_view type;
  std::string_view summary;
  EventScope scope;
  std::string_view members;
  std::string_view optional{};                  ///< the optional members, as a JSON array
  const Description& (*described)() = nullptr;  ///< a type whose members it also has
};

const Description& subscription() { return describe(Tag<SubscriptionMessage>{}); }

constexpr std::string_view job_members = R"({"run": {"record": "JobRun"},
         "threadId": {"type": ["string", "null"], "description": "null: the run could not begin"}})";

/// The messages sent by one side. A member `{"record": "Turn"}` has that type, as in the routes' responses, and
/// `{"records": "Turn"}` is a list of these.
struct Conversation {
  std::string name;
  std::string_view action;  ///< from the gateway's perspective: `send` or `receive`
  std::string_view description;
  std::vector<MessageKind> kinds;
};

const std::vector<Conversation> conversations{
    {"events",
     "send",
     "What happens, as it happens",
     {
         {"run-started", "A run begins: what it answers is no longer waiting", EventScope::thread,
          R"({"run": {"type": "object", "properties": {"runId": {"type": "string"}, "turnId": {"type": "string"},
            "threadId": {"type": "string"}}}})"},
         {"text-delta", "A piece of an answer", EventScope::run, R"({"delta": {"type": "string"}})"},
         {"reasoning-delta", "A piece of what a model thinks before it answers", EventScope::run,
          R"({"delta": {"type": "string"}})"},
         {"tool-start", "A tool call begins", EventScope::run,
          R"({"toolCallId": {"type": "string"}, "toolName": {"type": "string"}, "input": {"type": "object"}})"},
         {"tool-end", "A tool call has ended", EventScope::run,
          R"({"toolCallId": {"type": "string"}, "toolName": {"type": "string"}, "output": {"type": "string"},
         "isError": {"type": "boolean"}, "durationMs": {"type": "integer"}, "pictures": {"records": "Attachment"}})",
          R"(["pictures"])"},
         {"permission-requested", "An agent asks a person, and waits", EventScope::run,
          R"({"request": {"record": "PermissionRequest"}})"},
         {"permission-decided", "A permission request was decided, and the run continues", EventScope::run,
          R"({"requestId": {"type": "string"}, "decision": {"enum": ["allow", "deny", "propose", "answer"]},
         "scope": {"enum": ["once", "thread", "agent"]}, "by": {"enum": ["person", "timeout", "stop", "restart"]}})"},
         {"steered", "A message has joined the answer in progress", EventScope::run,
          R"({"turnId": {"type": "string", "description": "the message, not the question"},
         "afterStep": {"type": "integer", "minimum": 1, "description": "how many steps of tool calls came before it"}})"},
         {"error", "What went wrong with a run; its finish follows", EventScope::run,
          R"({"error": {"type": "string"}})"},
         {"finish", "The run has ended by itself", EventScope::run,
          R"({"finishReason": {"enum": ["stop", "length", "max-steps", "budget", "content-filter", "error"]},
         "assistantTurnId": {"type": ["string", "null"]}, "model": {"type": ["string", "null"]},
         "usage": {"type": "object", "properties": {
           "input_tokens": {"type": "integer"}, "output_tokens": {"type": "integer"},
           "cache_read_tokens": {"type": "integer"}, "cache_write_tokens": {"type": "integer"}}},
         "contextTokens": {"type": "integer", "description": "read and written by the latest model call"},
         "costUsd": {"type": "number"}, "durationMs": {"type": "integer"}})"},
         {"stopped", "The run was stopped", EventScope::run, R"({"assistantTurnId": {"type": ["string", "null"]}})"},
         {"turn-created", "A turn was inserted", EventScope::thread, R"({"turn": {"record": "Turn"}})"},
         {"thread-updated", "A thread was made or changed", EventScope::thread,
          R"({"thread": {"record": "Thread"},
         "compacted": {"type": "boolean", "description": "models read a summary of its older turns from now on"}})",
          R"(["compacted"])"},
         {"thread-deleted", "A thread was deleted", EventScope::thread, "{}"},
         {"tasks-updated", "An agent has changed its list of tasks", EventScope::thread,
          R"({"runId": {"type": "string"}, "tasks": {"type": "array", "items": {"type": "object", "properties": {
           "text": {"type": "string"}, "status": {"enum": ["pending", "active", "done"]}}}}})"},
         {"job-started", "A job's run has begun", EventScope::thread, job_members},
         {"job-finished", "A job's run has ended", EventScope::thread, job_members},
         {"extension-changed", "An extension was made, changed or deleted", EventScope::gateway,
          R"({"action": {"enum": ["created", "updated", "deleted"]}, "id": {"type": "string"}, "name": {"type": "string"},
         "extensionType": {"type": "string"}, "enabled": {"type": "boolean"}})"},
         {"proposal-created", "A proposal was staged", EventScope::gateway, R"({"proposal": {"record": "Proposal"}})"},
         {"proposal-decided", "A proposal was applied or rejected", EventScope::gateway,
          R"({"proposal": {"record": "Proposal"}})"},
         {"app-status", "An app was started or stopped, or has failed", EventScope::gateway,
          R"({"app": {"record": "App"}})"},
         {"signal", "Something that a person should look at", EventScope::gateway,
          R"({"signal": {"record": "Signal"}})"},
         {"iteration-step", "An iteration of research has made a step", EventScope::gateway,
          R"({"iterationId": {"type": "string"}, "domain": {"type": "string"},
         "step": {"enum": ["measure", "change", "check", "measure-again", "decide", "ended"]},
         "experiment": {"type": ["object", "null"], "description": "of a step `ended`"}})"},
     }},
    {"answers",
     "send",
     "To what a client says",
     {
         {"subscribed", "The threads that the connection hears now", EventScope::gateway,
          R"({"threadIds": {"type": "array", "items": {"type": "string"}},
         "runs": {"type": "array", "items": {"type": "object"}, "description": "in progress, for a resume"}})",
          R"(["runs"])"},
         {"pong", "The answer to a ping", EventScope::gateway, "{}"},
         {"error", "A message was not understood", EventScope::gateway, R"({"error": {"type": "string"}})"},
     }},
    {"requests",
     "receive",
     "What a client says",
     {
         {"subscribe", "Hear these threads, and from now on no others", EventScope::gateway, "{}", {}, subscription},
         {"unsubscribe", "Hear these threads no longer", EventScope::gateway, "{}", {}, subscription},
         {"ping", "Ask for a pong", EventScope::gateway, "{}"},
     }},
};

std::string_view scope_members(EventScope scope) {
  switch (scope) {
    case EventScope::run:
      return R"({"threadId": {"type": "string"}, "turnId": {"type": "string"}, "runId": {"type": "string"},
                 "seq": {"type": "integer", "minimum": 1, "description": "from 1 within a run"}})";
    case EventScope::thread:
      return R"({"threadId": {"type": "string"}})";
    case EventScope::gateway:
      return "{}";
  }
  return {};
}

json::object record_schema(const Routes& routes, std::string_view type) {
  for (const auto& route : routes) {
    if (route.response_type && route.response_type->name == type)
      return schema_of(*route.response_type, Direction::response);
  }
  return {{"type", "object"}};
}

json::value member_schema(const json::value& member, const Routes& routes) {
  const auto& schema = member.as_object();
  if (const auto* record = schema.if_contains("record")) return record_schema(routes, record->as_string());
  const auto* records = schema.if_contains("records");
  if (!records) return member;
  return json::object{{"type", "array"}, {"items", record_schema(routes, records->as_string())}};
}

bool names(const json::array& listed, std::string_view name) {
  for (const auto& entry : listed) {
    if (entry.as_string() == name) return true;
  }
  return false;
}

json::object payload_of(const MessageKind& kind, const Routes& routes) {
  json::object properties{{"type", json::object{{"const", kind.type}}}};
  json::array required{"type"};
  const auto optional = kind.optional.empty() ? json::array{} : parse_json(kind.optional)->as_array();
  for (const auto text : {scope_members(kind.scope), kind.members}) {
    const auto members = parse_json(text).value();
    for (const auto& member : members.get_object()) {
      properties[member.key()] = member_schema(member.value(), routes);
      if (!names(optional, member.key()) && !names(required, member.key())) required.emplace_back(member.key());
    }
  }
  if (kind.described) {
    const auto schema = schema_of(kind.described(), Direction::request);
    for (const auto& member : schema.at("properties").as_object()) properties[member.key()] = member.value();
  }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

json::object reference(const std::string& place) { return {{"$ref", place}}; }

/// Adds the kinds to the document's messages, and one operation for all of them to the channel.
void add(json::object& document, const Conversation& conversation, const Routes& routes) {
  json::array listed;
  auto& components = document["components"].get_object()["messages"].get_object();
  auto& channel = document["channels"].get_object()["socket"].get_object();
  for (const auto& kind : conversation.kinds) {
    const auto id = conversation.name + "." + std::string(kind.type);
    components[id] =
        json::object{{"name", kind.type}, {"summary", kind.summary}, {"payload", payload_of(kind, routes)}};
    channel["messages"].get_object()[id] = reference("#/components/messages/" + id);
    listed.push_back(reference("#/channels/socket/messages/" + id));
  }
  document["operations"].get_object()[conversation.name] = json::object{{"action", conversation.action},
                                                                        {"description", conversation.description},
                                                                        {"channel", reference("#/channels/socket")},
                                                                        {"messages", std::move(listed)}};
}

/// Adds the WebSockets of routes, whose messages are defined by the routes' own protocols.
void add_route_sockets(json::object& document, const Routes& routes) {
  for (const auto& route : routes) {
    if (!route.socket) continue;
    const auto name = route.path.substr(route.path.rfind('/') + 1);
    const auto place = "#/channels/" + name;
    json::object messages;
    for (const auto* direction : {"receive", "send"}) {
      const auto id = name + "." + direction;
      const json::object type{{"type", "string"}};
      messages[id] = json::object{{"name", id},
                                  {"payload", json::object{{"type", "object"},
                                                           {"properties", json::object{{"type", type}}},
                                                           {"required", json::array{"type"}}}}};
      document["operations"].get_object()[id] =
          json::object{{"action", direction},
                       {"description", "A message of the protocol that the path has"},
                       {"channel", reference(place)},
                       {"messages", json::array{reference(place + "/messages/" + id)}}};
    }
    document["channels"].get_object()[name] = json::object{
        {"address", route.path}, {"description", "A WebSocket: " + route.summary}, {"messages", std::move(messages)}};
  }
}

json::object server_of(std::string_view server_url) {
  const auto colon = server_url.find("://");
  const bool secure = server_url.substr(0, colon) == "https";
  return {{"host", server_url.substr(colon + 3)},
          {"protocol", secure ? "wss" : "ws"},
          {"security", json::array{reference("#/components/securitySchemes/bearer")}}};
}

}  // namespace

json::object asyncapi_document(const Routes& routes, std::string_view server_url) {
  auto information = document_information();
  information["tags"] = json::array{json::object{{"name", "events"}, {"description", "What happens in the gateway"}}};
  json::object document{
      {"asyncapi", "3.0.0"},
      {"info", std::move(information)},
      {"defaultContentType", "application/json"},
      {"servers", json::object{{"gateway", server_of(server_url)}}},
      {"channels", json::object{{"socket", json::object{{"address", "/ws"},
                                                        {"description", "A WebSocket, also at /events and /"},
                                                        {"messages", json::object{}}}}}},
      {"operations", json::object{}},
      {"components", json::object{{"messages", json::object{}},
                                  {"securitySchemes",
                                   json::object{{"bearer", json::object{{"type", "http"}, {"scheme", "bearer"}}}}}}}};
  for (const auto& conversation : conversations) add(document, conversation, routes);
  add_route_sockets(document, routes);
  return document;
}

}  // namespace agw
