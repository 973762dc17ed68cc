#include "model/openblas_core.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <optional>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/files.h"

namespace pw {
namespace {

constexpr char kCoreVariable[] = "OPENBLAS_CORETYPE";
// Ours, of the processes that are started here: "check", or the core that was left.
constexpr char kTaskVariable[] = "PW_OPENBLAS_TASK";
constexpr char kCheck[] = "check";
constexpr unsigned kCheckSeconds = 60;
constexpr char kThisProgram[] = "/proc/self/exe";

// Kernels without AVX2; any other name is of a core with it, or newer than this list.
constexpr std::string_view kOlderCores[] = {
    "Katmai", "Coppermine",   "Northwood", "Prescott",    "Banias",     "Atom",       "Core2",
    "Penryn", "Dunnington",   "Nehalem",   "Sandybridge", "Athlon",     "Opteron",    "Barcelona",
    "Bobcat", "Opteron_SSE3", "Nano",      "Bulldozer",   "Piledriver", "Steamroller"};
constexpr std::string_view kAvx2Cores[] = {"Haswell", "Zen", "Excavator"};

template <class Names>
bool holds(const Names& names, const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// ---- The check ----

// A matrix by columns, as Fortran has it, with rows to spare that no product may touch.
struct Matrix {
  Matrix(int height, int width) : rows(height + 3) {
    cells.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(width));
    std::uint32_t state = 12345;
    for (float& cell : cells) {  // Numerical Recipes' quick generator, to -1..1
      state = state * 1664525u + 1013904223u;
      cell = static_cast<float>(state >> 8) / float{1 << 23} - 1;
    }
  }
  float& at(int row, int column) {
    return cells[static_cast<std::size_t>(column) * static_cast<std::size_t>(rows) +
                 static_cast<std::size_t>(row)];
  }
  int rows;
  std::vector<float> cells;
};

struct Shape {
  int m, n, k;
};

bool product_is_right(Sgemm sgemm, const Shape& shape, bool transposed_a, bool transposed_b) {
  const auto& [m, n, k] = shape;
  Matrix a = transposed_a ? Matrix(k, m) : Matrix(m, k);
  Matrix b = transposed_b ? Matrix(n, k) : Matrix(k, n);
  Matrix c(m, n);
  Matrix expected = c;
  const float alpha = 0.5f, beta = 0.25f;
  sgemm(transposed_a ? "T" : "N", transposed_b ? "T" : "N", &m, &n, &k, &alpha, a.cells.data(),
        &a.rows, b.cells.data(), &b.rows, &beta, c.cells.data(), &c.rows);
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < m; ++row) {
      double sum = 0, size = 0;
      for (int i = 0; i < k; ++i) {
        const double term = static_cast<double>(transposed_a ? a.at(i, row) : a.at(row, i)) *
                            static_cast<double>(transposed_b ? b.at(column, i) : b.at(i, column));
        sum += term;
        size += std::abs(term);
      }
      const double right = alpha * sum + beta * static_cast<double>(expected.at(row, column));
      // 2^-23 for each of k roundings would be allowed; none comes near a hundred of them.
      if (!(std::abs(c.at(row, column) - right) <= 1e-5 * (1 + size))) {
        return false;
      }
      expected.at(row, column) = c.at(row, column);
    }
  }
  return c.cells == expected.cells;  // the rows to spare too
}

// In a process that was started for it.
[[noreturn]] void check_and_exit() {
  alarm(kCheckSeconds);
  const char* wanted = std::getenv(kCoreVariable);
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(RTLD_DEFAULT, "sgemm_"));
  const bool right =
      wanted && openblas_core() == wanted && sgemm != nullptr && products_are_right(sgemm);
  _exit(right ? EXIT_SUCCESS : EXIT_FAILURE);
}

// ---- Starting this program again ----

using Texts = std::vector<std::string>;

Texts own_arguments() {
  const std::string text = read_file("/proc/self/cmdline");
  Texts arguments;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

bool names_a_pipe(const std::string& argument) {
  struct stat status {};
  const std::string path = argument.substr(argument.find('=') + 1);  // --config=FILE
  return stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

std::vector<char*> pointers_to(Texts& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// The present environment, and the two variables.
Texts environment_with(const std::string& core, const std::string& task) {
  Texts texts = {std::string(kCoreVariable) + "=" + core, std::string(kTaskVariable) + "=" + task};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    texts.emplace_back(*variable);
  }
  return texts;
}

// Whether this program, started anew with `core`, finds its products right. What it prints is lost.
bool passes_check(Texts arguments, const std::string& core) {
  Texts environment = environment_with(core, kCheck);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int error = posix_spawn(&process, kThisProgram, &quiet, nullptr,
                                pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  return error == 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) &&
         WEXITSTATUS(status) == EXIT_SUCCESS;
}

void start_again(Texts arguments, const std::string& core, const std::string& former) {
  Texts environment = environment_with(core, former);
  execve(kThisProgram, pointers_to(arguments).data(), pointers_to(environment).data());
}

void choose(const std::string& core, const Texts& candidates) {
  const Texts arguments = own_arguments();
  if (std::any_of(arguments.begin(), arguments.end(), names_a_pipe)) {
    return;
  }
  for (const std::string& candidate : candidates) {
    if (passes_check(arguments, candidate)) {
      start_again(arguments, candidate, core);
      return;  // the system does not let us
    }
  }
  std::cerr << "OpenBLAS stays with its " << core
            << " kernels: those for this processor failed a check; training is slow\n";
}

}  // namespace

std::string openblas_core() {
  // Only some builds of LibTorch bring OpenBLAS, so it is looked up instead of linked.
  void* symbol = dlsym(RTLD_DEFAULT, "openblas_get_corename");
  return symbol == nullptr ? "" : reinterpret_cast<char* (*)()>(symbol)();
}

VectorUnit vector_unit() {
#ifdef __x86_64__
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx2 && avx512 ? VectorUnit::avx512 : avx2 ? VectorUnit::avx2 : VectorUnit::older;
#else
  return VectorUnit::older;
#endif
}

std::vector<std::string> better_openblas_cores(const std::string& core, VectorUnit unit) {
  const bool older = holds(kOlderCores, core);
  Texts cores;
  if (unit == VectorUnit::avx512 && (older || holds(kAvx2Cores, core))) {
    cores.emplace_back("SkylakeX");
  }
  if (unit != VectorUnit::older && older) {
    cores.emplace_back("Haswell");
  }
  return cores;
}

bool products_are_right(Sgemm sgemm) {
  // Large enough in each direction for the blocks that kernels work in.
  constexpr Shape kShapes[] = {{1, 1, 1},    {17, 1, 64},    {13, 29, 31},
                               {5, 1030, 9}, {1030, 24, 22}, {70, 50, 900}};
  for (const Shape& shape : kShapes) {
    for (const bool transposed_a : {false, true}) {
      for (const bool transposed_b : {false, true}) {
        if (!product_is_right(sgemm, shape, transposed_a, transposed_b)) {
          return false;
        }
      }
    }
  }
  return true;
}

void use_fitting_openblas_core() {
  if (const char* task = std::getenv(kTaskVariable)) {
    if (task == std::string_view(kCheck)) {
      check_and_exit();
    }
    std::cerr << "OpenBLAS: " << openblas_core() << " kernels, checked, in place of " << task
              << " ones, which leave out what this processor has; " << kCoreVariable
              << " chooses others\n";
    unsetenv(kTaskVariable);
    unsetenv(kCoreVariable);  // of programs that this one starts
    return;
  }
  const std::string core = openblas_core();
  const Texts candidates = better_openblas_cores(core, vector_unit());
  if (!candidates.empty() && std::getenv(kCoreVariable) == nullptr) {
    choose(core, candidates);
  }
}

}  // namespace pw
