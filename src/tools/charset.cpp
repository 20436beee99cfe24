#include "tools/charset.hpp"

#include <iconv.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/predicate.hpp>

#include "base/json/json.hpp"

namespace agw {

namespace {

constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

std::string charset_in(std::string_view text) {
  const auto lower = boost::to_lower_copy(std::string(text));
  const auto found = lower.find("charset=");
  if (found == lower.npos) return {};
  const auto begin = lower.find_first_not_of("\"' ", found + 8);
  if (begin == lower.npos) return {};
  return lower.substr(begin, lower.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_:.", begin) - begin);
}

std::optional<std::string> converted(std::string_view bytes, const std::string& charset) {
  const auto converter = iconv_open("UTF-8", charset.c_str());
  if (converter == reinterpret_cast<iconv_t>(-1)) return std::nullopt;  // NOLINT(performance-no-int-to-ptr)
  std::string out(bytes.size() * 4 + 16, '\0');
  char* from = const_cast<char*>(bytes.data());
  char* to = out.data();
  std::size_t left = bytes.size();
  std::size_t room = out.size();
  while (left > 0 && iconv(converter, &from, &left, &to, &room) == static_cast<std::size_t>(-1)) {
    if (left == 0 || room < 4) break;
    ++from;
    --left;
    *to++ = '?';
    --room;
  }
  iconv_close(converter);
  out.resize(out.size() - room);
  return out;
}

/// Returns an empty string if neither declares it.
std::string charset_of(std::string_view bytes, std::string_view content_type) {
  if (bytes.starts_with(utf8_mark)) return "utf-8";
  if (is_marked_utf16(bytes)) return "utf-16";
  return charset_in(content_type);
}

/// The charset that a declared one is read as, as in browsers: programs write characters of a larger charset under the
/// name of a smaller one. Empty if it has to be guessed: ASCII needs no declaration, so what declares it is often
/// another. See https://encoding.spec.whatwg.org/#names-and-labels.
std::string_view charset_behind(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"ansi_x3.4-1968", ""},
      {"ascii", ""},
      {"us-ascii", ""},
      {"big5", "big5-hkscs"},
      {"euc-kr", "cp949"},
      {"ks_c_5601-1987", "cp949"},
      {"ks_c_5601-1989", "cp949"},
      {"ksc5601", "cp949"},
      {"windows-949", "cp949"},
      {"gb2312", "gb18030"},
      {"gb_2312-80", "gb18030"},
      {"gbk", "gb18030"},
      {"x-gbk", "gb18030"},
      {"iso-8859-1", "windows-1252"},
      {"latin1", "windows-1252"},
      {"iso-8859-8-i", "iso-8859-8"},
      {"iso-8859-9", "windows-1254"},
      {"iso-8859-11", "windows-874"},
      {"tis-620", "windows-874"},
      {"shift_jis", "cp932"},
      {"shift-jis", "cp932"},
      {"sjis", "cp932"},
      {"x-sjis", "cp932"},
      {"unknown-8bit", ""},
      {"utf8", "utf-8"},
  };
  const auto* const found = std::ranges::find(others, name, [](const auto& each) { return each.first; });
  return found == std::end(others) ? name : found->second;
}

std::string read_as(const std::string& declared, std::string_view bytes) {
  if (bytes.starts_with(utf8_mark)) bytes.remove_prefix(utf8_mark.size());
  const std::string charset(charset_behind(declared));
  if (charset.empty() && is_utf8(bytes)) return std::string(bytes);
  const auto text = charset == "utf-8" ? std::nullopt : converted(bytes, charset.empty() ? "windows-1252" : charset);
  return to_utf8(text ? *text : bytes);
}

bool is_html(std::string_view content_type) {
  return boost::istarts_with(content_type, "text/html") || boost::istarts_with(content_type, "application/xhtml+xml");
}

}  // namespace

bool declares_charset(std::string_view content_type) { return !charset_in(content_type).empty(); }

bool is_marked_utf16(std::string_view bytes) { return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"); }

std::string text_to_utf8(std::string_view bytes, std::string_view content_type) {
  return is_html(content_type) ? html_to_utf8(bytes, content_type) : read_as(charset_of(bytes, content_type), bytes);
}

std::string html_to_utf8(std::string_view bytes, std::string_view content_type) {
  auto charset = charset_of(bytes, content_type);
  if (charset.empty()) charset = charset_in(bytes.substr(0, 1024));
  return read_as(charset, bytes);
}

}  // namespace agw
