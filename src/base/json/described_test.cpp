#include "base/json/described.hpp"

#include <gtest/gtest.h>

#include "base/json/describe.hpp"

namespace agw::example {

enum class Speaker { user, tool, built_in };
BOOST_DESCRIBE_ENUM(Speaker, user, tool, built_in)
std::span<const EnumName> names(Tag<Speaker>) { return enum_names<Speaker>(); }

struct Note {
  std::string text;
  Speaker role{};
  std::optional<json::object> metadata;
  Change<std::string> mode;
  bool loud = true;
  std::vector<std::string> tags;
};
BOOST_DESCRIBE_STRUCT(Note, (), (text, role, metadata, mode, loud, tags))
constexpr auto rules(Tag<Note>) {
  return std::tuple{RuleFor<&Note::text>{{.about = "what is said", .missing = "text, please"}},
                    RuleFor<&Note::loud>{{.has_default = true}}, RuleFor<&Note::tags>{{.has_default = true}}};
}
const Description& describe(Tag<Note>) { return description_of<Note>("Note"); }

struct Filter {
  std::optional<bool> archived;
  std::optional<Timestamp> since;
  std::optional<Speaker> role;
  Limit limit{50};
};
BOOST_DESCRIBE_STRUCT(Filter, (), (archived, since, role, limit))
const Description& describe(Tag<Filter>) { return description_of<Filter>("Filter"); }

}  // namespace agw::example

namespace agw {
namespace {

using example::Filter;
using example::Note;
using example::Speaker;

std::pair<Note, Problems> read_note(std::string_view text) {
  Note note;
  Problems problems;
  read_described(parse_json(text)->get_object(), describe(Tag<Note>{}), &note, "", problems);
  return {note, problems};
}

std::pair<Filter, Problems> query(std::string_view name, std::string_view text) {
  Filter filter;
  Problems problems;
  read_query([&](std::string_view wanted) { return wanted == name ? std::optional(text) : std::nullopt; },
             describe(Tag<Filter>{}), &filter, problems);
  return {filter, problems};
}

std::string message(const Problems& problems) { return problems.empty() ? "" : problems.front().message; }

TEST(Described, WritesEveryFieldInOrderOfDeclaration) {
  EXPECT_EQ(to_json(Note{"a \"b\"\n", Speaker::built_in, std::nullopt, {}, false, {"x", "y"}}),
            R"({"text":"a \"b\"\n","role":"built-in","metadata":null,"mode":null,"loud":false,"tags":["x","y"]})");
}

TEST(Described, ReadsWhatItWrote) {
  const auto [note, problems] = read_note(R"({"text":"hi","role":"tool","metadata":{"a":1},"tags":["x"]})");
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(note.text, "hi");
  EXPECT_EQ(note.role, Speaker::tool);
  EXPECT_EQ(note.metadata->at("a").as_int64(), 1);
  EXPECT_TRUE(note.loud);
  EXPECT_EQ(note.tags, std::vector<std::string>{"x"});
}

TEST(Described, NamesMissingInvalidAndUnlistedMembers) {
  EXPECT_EQ(message(read_note(R"({"role":"user"})").second), "text, please");
  EXPECT_EQ(message(read_note(R"({"text":"a"})").second), "role is required");
  EXPECT_EQ(message(read_note(R"({"text":null,"role":"user"})").second), "text, please");
  EXPECT_EQ(message(read_note(R"({"text":5,"role":"user"})").second), "text must be a string");
  EXPECT_EQ(message(read_note(R"({"text":"a","role":1})").second), "role must be a string");
  EXPECT_EQ(message(read_note(R"({"text":"a","role":"admin"})").second), "invalid role: admin");
  EXPECT_EQ(message(read_note(R"({"text":"a","role":"user","metadata":[]})").second), "metadata must be a object");
  EXPECT_EQ(message(read_note(R"({"text":"a","role":"user","tags":"x"})").second), "tags must be a array");
  EXPECT_EQ(message(read_note(R"({"text":"a","role":"user","tags":[1]})").second), "tags[0] must be a string");
}

TEST(Described, DistinguishesOmittedNullAndAValueWhereItMatters) {
  EXPECT_FALSE(read_note(R"({"text":"a","role":"user"})").first.mode.given);
  const auto cleared = read_note(R"({"text":"a","role":"user","mode":null})").first.mode;
  EXPECT_TRUE(cleared.given);
  EXPECT_FALSE(cleared.value);
  EXPECT_EQ(read_note(R"({"text":"a","role":"user","mode":"act"})").first.mode.value, "act");
}

TEST(Described, ReadsQueries) {
  EXPECT_EQ(query("archived", "1").first.archived, true);
  EXPECT_EQ(message(query("archived", "yes").second), "archived must be true or false");
  EXPECT_EQ(message(query("since", "soon").second), "since must be an ISO 8601 timestamp");
  EXPECT_EQ(message(query("role", "admin").second), "invalid role: admin");
  EXPECT_EQ(query("other", "").first.limit.value, 50);
  EXPECT_EQ(query("limit", "7").first.limit.value, 7);
  EXPECT_EQ(query("limit", "99999999999999999999").first.limit.value, 1000);
  for (const auto* bad : {"0", "-1", "1.5", "abc", "1e3", "+5", " 5"}) {
    EXPECT_EQ(message(query("limit", bad).second), "limit must be a positive integer") << bad;
  }
}

TEST(Described, DescribesItselfAsJsonSchema) {
  const auto schema = schema_of(describe(Tag<Note>{}), Direction::request);
  EXPECT_EQ(to_json(schema.at("required")), R"(["text","role"])");
  EXPECT_EQ(to_json(schema.at("properties").at("role")), R"({"type":"string","enum":["user","tool","built-in"]})");
  EXPECT_EQ(to_json(schema.at("properties").at("text").at("description")), "\"what is said\"");
}

}  // namespace
}  // namespace agw
