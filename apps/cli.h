#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pw/fields.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

// What the programs use of CLI11, under its names. CLI11 is all headers: each file that includes it
// compiles the whole of it, which took a fifth of the build. cli.cpp alone does.
namespace pw::cli {

// Wrong usage that is found while the command line is parsed.
class RequiredError : public UsageError {
 public:
  explicit RequiredError(const std::string& name) : UsageError(name + " is required") {}
};
class ValidationError : public UsageError {
 public:
  ValidationError(const std::string& name, const std::string& problem)
      : UsageError(name + ": " + problem) {}
};

// What Option::check() asks of each value.
class Check {
 public:
  explicit Check(const CLI::Validator& validator);
  explicit Check(const std::function<std::string(const std::string&)>& objection);
  const CLI::Validator& validator() const { return *validator_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
};
Check IsMember(const std::vector<std::string>& texts);
Check IsMember(std::initializer_list<const char*> texts);
Check IsMember(std::initializer_list<int> numbers);
template <class T>
Check IsMember(const std::map<std::string, T>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return IsMember(names);
}
Check PositiveNumber();
Check NonNegativeNumber();
Check Range(int low, int high);
Check Range(double low, double high);
Check Range(std::size_t low, std::size_t high);

class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}

  Option* group(const std::string& name);
  Option* option_text(const std::string& text);
  Option* type_name(const std::string& name);
  Option* default_str(const std::string& text);
  Option* capture_default_str();
  Option* required(bool value = true);
  Option* needs(Option* other);
  Option* excludes(Option* other);
  Option* excludes(const std::string& other);
  Option* delimiter(char delimiter);
  Option* expected(int values);
  Option* take_all();
  Option* allow_extra_args(bool value);
  Option* check(const Check& check);

  std::string get_name() const;
  const std::string& get_group() const;
  std::size_t count() const;
  bool empty() const { return count() == 0; }

  CLI::Option& cli11() const { return option_; }

 private:
  CLI::Option& option_;
};

class App {
 public:
  explicit App(const std::string& description = "", const std::string& name = "");
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  // Types of values: those that cli.cpp instantiates.
  template <class T>
  Option* add_option(const std::string& name, T& value, const std::string& description);
  template <class T>
  Option* add_option_function(const std::string& name,
                              const std::function<void(const T&)>& function,
                              const std::string& description);
  Option* add_flag(const std::string& name, bool& value, const std::string& description);
  Option* add_flag_function(const std::string& name,
                            const std::function<void(std::int64_t)>& function,
                            const std::string& description);
  App* add_subcommand(const std::string& name, const std::string& description);
  void footer(const std::string& text);
  void require_subcommand(std::size_t count);
  void require_subcommand(std::size_t least, std::size_t most);
  void callback(const std::function<void()>& function);
  void parse_complete_callback(const std::function<void()>& function);

  Option* get_option(const std::string& name);
  std::vector<Option*> get_options();
  void remove_option(Option* option);
  std::size_t count(const std::string& option) const;
  const std::string& get_name() const;
  // Those that the command line named.
  std::vector<const App*> get_subcommands() const;

  // Arguments without the program's name. Throws what CLI11 and callbacks throw.
  void parse(const std::vector<std::string>& arguments);

  CLI::App& cli11() const { return *app_; }

 private:
  explicit App(CLI::App& subcommand);
  Option* kept(CLI::Option* option);

  std::unique_ptr<CLI::App> owned_;
  CLI::App* app_;
  std::list<Option> options_;
  std::vector<std::unique_ptr<App>> subcommands_;
};

}  // namespace pw::cli
