#include "base/json/toml.hpp"

#include <gtest/gtest.h>

namespace agw {
namespace {

std::string read_toml(std::string_view text) {
  try {
    return to_json(toml_to_json(text));
  } catch (const TomlError& error) {
    return error.what();
  }
}

TEST(Toml, IsReadAsJson) {
  EXPECT_EQ(read_toml(R"(# settings
model = "gpt-5" # chosen
retries = 1_000
hex = 0xFF
on = true
since = 1979-05-27T07:32:00Z
"a key".'b.c' = 'C:\path'

[mcp_servers.files]
command = "npx"
args = [
  "-y", # yes
  "server",
]
env = { TOKEN = "a\tb\u00e9", sub.key = 1 }
[mcp_servers.web]
url = "https://mcp.example"
[[hooks]]
name = "one"
[[hooks]]
name = "two"
[hooks.inner]
x = 1
)"),
            "{\"a key\":{\"b.c\":\"C:\\\\path\"},\"hex\":255,\"hooks\":[{\"name\":\"one\"},"
            "{\"inner\":{\"x\":1},\"name\":\"two\"}],\"mcp_servers\":{\"files\":{\"args\":[\"-y\",\"server\"],"
            "\"command\":\"npx\",\"env\":{\"TOKEN\":\"a\\tb\u00e9\",\"sub\":{\"key\":1}}},"
            "\"web\":{\"url\":\"https://mcp.example\"}},\"model\":\"gpt-5\",\"on\":true,\"retries\":1000,"
            "\"since\":\"1979-05-27T07:32:00Z\"}");
}

TEST(Toml, HasTextsOfSeveralLines) {
  EXPECT_EQ(read_toml("a = \"\"\"\nOne \\\n   two \"quoted\"\"\"\"\nb = '''\nC:\\\\x'''"),
            R"({"a":"One two \"quoted\"","b":"C:\\\\x"})");
}

TEST(Toml, NamesTheLineOfAnError) {
  EXPECT_EQ(read_toml("a = 1\nb = \n"), "line 2: a value is missing, or a text is without quotes");
  EXPECT_EQ(read_toml("a = 1\na = 2"), "line 2: a is there already");
  EXPECT_EQ(read_toml("[a]\n[a]"), "line 2: the table a is there already");
  EXPECT_EQ(read_toml("a = {b = 1}\n[a.c]"), "line 2: a is no table");
  EXPECT_EQ(read_toml("a = \"x"), "line 1: a text does not end");
  EXPECT_EQ(read_toml("a = 1 b"), "line 1: a value is missing, or a text is without quotes");
  EXPECT_EQ(read_toml("[a\n"), "line 1: ] is missing");
  EXPECT_EQ(read_toml("a = " + std::string(40, '[')), "line 1: is nested too deeply");
  EXPECT_EQ(read_toml("a = \"\\ud800\""), "line 1: an escape is no character");
  EXPECT_EQ(read_toml("a = \"\\"), "line 1: an escape is unknown");
}

}  // namespace
}  // namespace agw
