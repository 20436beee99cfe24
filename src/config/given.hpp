#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace agw {

/// What somebody gave for a key, before anybody knows whether it fits.
struct Given {
  enum class Form {
    untyped,  ///< the text of a flag or an environment variable, which may stand for anything
    string,
    number,
    boolean,
    nothing,  ///< `key:` without a value, or null
    list,
    map,
  };
  Form form = Form::untyped;
  std::string name = {};             ///< of a map's member
  std::string text = {};             ///< of a scalar
  std::vector<Given> children = {};  ///< items of a list, or members of a map in the order of the file
  int line = 0;                      ///< where the name stands, or an item of a list; from 1

  bool is_text() const { return form == Form::string || form == Form::untyped; }
  bool is_number() const { return form == Form::number || form == Form::untyped; }
};

/// A value that does not fit its key.
class BadValue : public std::runtime_error {
public:
  BadValue(int line, std::string key, const std::string& why)
      : std::runtime_error(why), line_(line), key_(std::move(key)) {}
  int line() const { return line_; }
  const std::string& key() const { return key_; }

private:
  int line_;
  std::string key_;
};

/// Reads one YAML document whose top is a map. Throws BadValue with the key `yaml` for what is not one, and with the
/// key's name for one that is given twice.
Given parse_yaml(const std::string& text);

}  // namespace agw
