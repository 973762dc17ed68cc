#include "app.h"

#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "config_file.h"
#include "io/text.h"
#include "pw/fields.h"
#include "stop_request.h"

namespace pw {

int run_app(cli::App& app, int argc, char** argv, const std::function<int()>& body) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond `ulimit -f` is then an error with a message
  end_on_signals(app.get_name());
  try {
    app.parse(with_config_file(app, {argv + 1, argv + argc}));
    const int code = body();
    if (!std::cout.flush()) {
      throw DataError("cannot write to the standard output");
    }
    return code;
  } catch (const CLI::ParseError& error) {
    return app.cli11().exit(error) == 0 ? kDone : kUsageError;
  } catch (const UsageError& error) {
    std::cerr << app.get_name() << ": " << one_line(error.what()) << '\n';
    return kUsageError;
  } catch (const DataError& error) {
    std::cerr << app.get_name() << ": " << one_line(error.what()) << '\n';
    return kBadData;
  } catch (const std::filesystem::filesystem_error& error) {
    std::cerr << app.get_name() << ": " << one_line(error.what()) << '\n';
    return kBadData;
  } catch (const std::overflow_error& error) {  // sizes of a problem, see pw/int_math.h
    std::cerr << app.get_name() << ": " << error.what() << ", expected smaller numbers\n";
    return kBadData;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": internal error: " << error.what() << '\n';
    return kInternalError;
  }
}

void refuse_main_options(cli::App& app) {
  for (const cli::Option* option : app.get_options()) {
    if (option->count() > 0) {
      throw cli::ValidationError(option->get_name(),
                                 "belongs after the subcommand, or to a command line without one");
    }
  }
}

}  // namespace pw
