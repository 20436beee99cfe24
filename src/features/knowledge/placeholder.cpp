#include <algorithm>
#include <locale>
#include <set>
#include <string>

#include <boost/algorithm/string.hpp>

#include "base/text/ascii.hpp"
#include "features/knowledge/markdown.hpp"

namespace agw {

namespace {

const std::set<std::string_view>& elements() {
  static const std::set<std::string_view> names{"a",        "abbr",     "acronym",   "address",    "animate",
                                                "applet",   "area",     "article",   "aside",      "audio",
                                                "b",        "base",     "basefont",  "bdi",        "bdo",
                                                "bgsound",  "big",      "blink",     "blockquote", "body",
                                                "br",       "button",   "canvas",    "caption",    "center",
                                                "circle",   "cite",     "code",      "col",        "colgroup",
                                                "command",  "content",  "data",      "datalist",   "dd",
                                                "defs",     "del",      "desc",      "details",    "dfn",
                                                "dialog",   "dir",      "div",       "dl",         "dt",
                                                "ellipse",  "em",       "embed",     "fieldset",   "figcaption",
                                                "figure",   "filter",   "font",      "footer",     "foreignobject",
                                                "form",     "frame",    "frameset",  "g",          "h1",
                                                "h2",       "h3",       "h4",        "h5",         "h6",
                                                "head",     "header",   "hgroup",    "hr",         "html",
                                                "i",        "iframe",   "image",     "img",        "input",
                                                "ins",      "isindex",  "kbd",       "keygen",     "label",
                                                "layer",    "legend",   "li",        "line",       "link",
                                                "listing",  "main",     "map",       "mark",       "marquee",
                                                "math",     "menu",     "menuitem",  "meta",       "meter",
                                                "mglyph",   "mi",       "mn",        "mo",         "ms",
                                                "mtext",    "multicol", "nav",       "nobr",       "noembed",
                                                "noframes", "noscript", "object",    "ol",         "optgroup",
                                                "option",   "output",   "p",         "param",      "path",
                                                "pattern",  "picture",  "plaintext", "polygon",    "polyline",
                                                "portal",   "pre",      "progress",  "q",          "rb",
                                                "rect",     "rp",       "rt",        "rtc",        "ruby",
                                                "s",        "samp",     "script",    "search",     "section",
                                                "select",   "set",      "shadow",    "slot",       "small",
                                                "source",   "spacer",   "span",      "stop",       "strike",
                                                "strong",   "style",    "sub",       "summary",    "sup",
                                                "svg",      "symbol",   "table",     "tbody",      "td",
                                                "template", "text",     "textarea",  "tfoot",      "th",
                                                "thead",    "time",     "title",     "tr",         "track",
                                                "tspan",    "tt",       "u",         "ul",         "use",
                                                "var",      "video",    "view",      "wbr",        "xml",
                                                "xmp"};
  return names;
}

bool is_name_byte(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

}  // namespace

bool is_placeholder(std::string_view tag) {
  if (tag.size() < 3 || tag.front() != '<' || tag.back() != '>') return false;
  const auto name = tag.substr(1, tag.size() - 2);
  return std::ranges::all_of(name, is_name_byte) &&
         !elements().contains(boost::to_lower_copy(std::string(name), std::locale::classic()));
}

}  // namespace agw
