#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace pw {

struct ProgramResult {
  int exit_code = -1;  // -1: ended by a signal
  std::string output;  // stdout
  std::string errors;  // stderr
};

// Runs a program with its streams captured in files of `folder`, which is its current folder too.
inline ProgramResult run_program(const std::filesystem::path& folder, const std::string& program,
                                 const std::vector<std::string>& arguments) {
  const auto quoted = [](const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
      result += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return result + "'";
  };
  const auto content = [](const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  };
  const std::filesystem::path output = folder / "stdout.txt";
  const std::filesystem::path errors = folder / "stderr.txt";
  std::string command = "cd " + quoted(folder.string()) + " && " + quoted(program);
  for (const std::string& argument : arguments) {
    command += " " + quoted(argument);
  }
  command += " >" + quoted(output.string()) + " 2>" + quoted(errors.string());
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(output), content(errors)};
}

}  // namespace pw
