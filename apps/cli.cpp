#include "cli.h"

#include <algorithm>
#include <filesystem>

#include <CLI/CLI.hpp>

namespace pw::cli {

Check::Check(const CLI::Validator& validator)
    : validator_(std::make_shared<const CLI::Validator>(validator)) {}
Check::Check(const std::function<std::string(const std::string&)>& objection)
    : Check(CLI::Validator(objection, "", "")) {}

Check IsMember(const std::vector<std::string>& texts) { return Check(CLI::IsMember(texts)); }
Check IsMember(std::initializer_list<const char*> texts) {
  return IsMember(std::vector<std::string>(texts.begin(), texts.end()));
}
Check IsMember(std::initializer_list<int> numbers) {
  return Check(CLI::IsMember(std::vector<int>(numbers)));
}
Check PositiveNumber() {  // CLI11's message has the largest double in full
  return Check([](const std::string& text) {
    return CLI::PositiveNumber(text).empty() ? "" : "'" + text + "', expected a number above 0";
  });
}
Check NonNegativeNumber() {
  return Check([](const std::string& text) {
    return CLI::NonNegativeNumber(text).empty() ? ""
                                                : "'" + text + "', expected a number from 0 on";
  });
}
Check Range(int low, int high) { return Check(CLI::Range(low, high)); }
Check Range(double low, double high) { return Check(CLI::Range(low, high)); }
Check Range(std::size_t low, std::size_t high) { return Check(CLI::Range(low, high)); }

Option* Option::group(const std::string& name) {
  option_.group(name);
  return this;
}
Option* Option::option_text(const std::string& text) {
  option_.option_text(text);
  return this;
}
Option* Option::type_name(const std::string& name) {
  option_.type_name(name);
  return this;
}
Option* Option::default_str(const std::string& text) {
  option_.default_str(text);
  return this;
}
Option* Option::capture_default_str() {
  option_.capture_default_str();
  return this;
}
Option* Option::required(bool value) {
  option_.required(value);
  return this;
}
Option* Option::needs(Option* other) {
  option_.needs(&other->option_);
  return this;
}
Option* Option::excludes(Option* other) {
  option_.excludes(&other->option_);
  return this;
}
Option* Option::excludes(const std::string& other) {
  option_.excludes(other);
  return this;
}
Option* Option::delimiter(char delimiter) {
  option_.delimiter(delimiter);
  return this;
}
Option* Option::expected(int values) {
  option_.expected(values);
  return this;
}
Option* Option::take_all() {
  option_.take_all();
  return this;
}
Option* Option::allow_extra_args(bool value) {
  option_.allow_extra_args(value);
  return this;
}
Option* Option::check(const Check& check) {
  option_.check(check.validator());
  return this;
}
std::string Option::get_name() const { return option_.get_name(); }
const std::string& Option::get_group() const { return option_.get_group(); }
std::size_t Option::count() const { return option_.count(); }

App::App(const std::string& description, const std::string& name)
    : owned_(std::make_unique<CLI::App>(description, name)), app_(owned_.get()) {}
App::App(CLI::App& subcommand) : app_(&subcommand) {}
App::~App() = default;

Option* App::kept(CLI::Option* option) { return &options_.emplace_back(*option); }

template <class T>
Option* App::add_option(const std::string& name, T& value, const std::string& description) {
  return kept(app_->add_option(name, value, description));
}
template <class T>
Option* App::add_option_function(const std::string& name,
                                 const std::function<void(const T&)>& function,
                                 const std::string& description) {
  return kept(app_->add_option_function<T>(name, function, description));
}

// The types that options have.
template <class T>
using List = std::vector<T>;
template <class T>
using Optional = std::optional<T>;
using Path = std::filesystem::path;
#define PW_OPTION(T) template Option* App::add_option(const std::string&, T&, const std::string&)
PW_OPTION(std::string);
PW_OPTION(Path);
PW_OPTION(std::int64_t);
PW_OPTION(std::size_t);
PW_OPTION(double);
PW_OPTION(Optional<std::string>);
PW_OPTION(Optional<Path>);
PW_OPTION(Optional<std::int64_t>);
PW_OPTION(Optional<double>);
PW_OPTION(List<std::string>);
PW_OPTION(List<Path>);
PW_OPTION(List<std::int64_t>);
PW_OPTION(List<double>);
#undef PW_OPTION
#define PW_OPTION_FUNCTION(T)                \
  template Option* App::add_option_function( \
      const std::string&, const std::function<void(const T&)>&, const std::string&)
PW_OPTION_FUNCTION(std::string);
PW_OPTION_FUNCTION(int);
PW_OPTION_FUNCTION(std::int64_t);
PW_OPTION_FUNCTION(double);
PW_OPTION_FUNCTION(List<std::string>);
PW_OPTION_FUNCTION(List<std::int64_t>);
#undef PW_OPTION_FUNCTION

Option* App::add_flag(const std::string& name, bool& value, const std::string& description) {
  return kept(app_->add_flag(name, value, description));
}
Option* App::add_flag_function(const std::string& name,
                               const std::function<void(std::int64_t)>& function,
                               const std::string& description) {
  return kept(app_->add_flag_function(name, function, description));
}
App* App::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App& subcommand = *app_->add_subcommand(name, description);
  return subcommands_.emplace_back(new App(subcommand)).get();
}
void App::footer(const std::string& text) { app_->footer(text); }
void App::require_subcommand(std::size_t count) { app_->require_subcommand(count, count); }
void App::require_subcommand(std::size_t least, std::size_t most) {
  app_->require_subcommand(least, most);
}
void App::callback(const std::function<void()>& function) { app_->callback(function); }
void App::parse_complete_callback(const std::function<void()>& function) {
  app_->parse_complete_callback(function);
}

Option* App::get_option(const std::string& name) {
  CLI::Option* wanted = app_->get_option(name);
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& option) { return &option.cli11() == wanted; });
  return found == options_.end() ? kept(wanted) : &*found;  // --help is CLI11's own
}
std::vector<Option*> App::get_options() {
  std::vector<Option*> options;
  for (Option& option : options_) options.push_back(&option);
  return options;
}
void App::remove_option(Option* option) {
  app_->remove_option(&option->cli11());
  options_.remove_if([&](const Option& each) { return &each == option; });
}
std::size_t App::count(const std::string& option) const { return app_->count(option); }
const std::string& App::get_name() const { return app_->get_name(); }
std::vector<const App*> App::get_subcommands() const {
  std::vector<const App*> named;
  for (const auto& subcommand : subcommands_) {
    if (app_->got_subcommand(&subcommand->cli11())) named.push_back(subcommand.get());
  }
  return named;
}

void App::parse(const std::vector<std::string>& arguments) {
  app_->parse(
      std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // the order it takes
}

}  // namespace pw::cli
