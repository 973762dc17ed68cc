#include "config_file.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "comma_list.h"
#include "io/json_file.h"

namespace pw {
namespace {

constexpr char kConfig[] = "--config";

// The command that the arguments choose.
const CLI::App& chosen_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!arguments.empty() && command->check_name(arguments.front())) {
      return *command;
    }
  }
  return app;
}

bool is_given(const std::string& option, const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == option || argument.compare(0, option.size() + 1, option + "=") == 0;
  });
}

// The value of `--config`, or empty.
std::string config_path(const std::vector<std::string>& arguments) {
  const std::string prefix = std::string(kConfig) + "=";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].compare(0, prefix.size(), prefix) == 0) {
      return arguments[i].substr(prefix.size());
    }
    if (arguments[i] == kConfig && i + 1 < arguments.size()) {
      return arguments[i + 1];
    }
  }
  return "";
}

// Options that a file may set.
std::vector<std::string> known_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name != "config" && name != "help") {
        names.push_back(name);
      }
    }
  }
  return names;
}

class ConfigFile {
 public:
  ConfigFile(const std::string& path, const CLI::App& command)
      : path_(path), command_(command), known_(known_names(command)) {}

  std::vector<std::string> arguments(const std::vector<std::string>& given) const {
    const Json json = read_json(path_);
    if (!json.is_object()) {
      throw DataError(path_ + ": found " + json.type_name() +
                      ", expected an object of option names and values");
    }
    std::vector<std::string> arguments;
    for (const auto& [key, value] : json.items()) {
      const std::string option = option_name(key);
      if (!is_given(option, given)) {
        append(key, option, value, arguments);
      }
    }
    return arguments;
  }

 private:
  std::string option_name(const std::string& key) const {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      throw DataError(path_ + ": unknown option '" + key + "', expected one of " +
                      comma_list(known_));
    }
    return "--" + name;
  }

  void append(const std::string& key, const std::string& option, const Json& value,
              std::vector<std::string>& arguments) const {
    if (command_.get_option(option)->get_items_expected_max() == 0) {
      if (!value.is_boolean()) {
        throw DataError(path_ + ": '" + key + "' is " + value.dump() + ", expected true or false");
      }
      if (value.get<bool>()) {
        arguments.push_back(option);
      }
    } else if (value.is_array()) {
      for (const Json& element : value) {
        arguments.push_back(option + "=" + text_of(key, element));
      }
    } else {
      arguments.push_back(option + "=" + text_of(key, value));
    }
  }

  std::string text_of(const std::string& key, const Json& value) const {
    if (value.is_string()) {
      return value.get<std::string>();
    }
    if (!value.is_number()) {
      throw DataError(path_ + ": '" + key + "' is " + value.dump() +
                      ", expected a text, a number or a list of them");
    }
    return value.dump();
  }

  std::string path_;
  const CLI::App& command_;
  std::vector<std::string> known_;
};

}  // namespace

void add_config_option(cli::App& command) {
  command
      .add_option_function<std::string>(
          kConfig, [](const std::string&) {},
          "JSON object of option names and values; the command line wins")
      ->type_name("FILE");
}

std::vector<std::string> with_config_file(const cli::App& app, std::vector<std::string> arguments) {
  const CLI::App& command = chosen_command(app.cli11(), arguments);
  const std::string path = config_path(arguments);
  if (command.get_option_no_throw(kConfig) != nullptr && !path.empty()) {
    const std::vector<std::string> more = ConfigFile(path, command).arguments(arguments);
    arguments.insert(arguments.end(), more.begin(), more.end());
  }
  return arguments;
}

}  // namespace pw
