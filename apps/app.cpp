#include "app.h"

#include <exception>
#include <iostream>

#include "pw/fields.h"

namespace pw {

int run_app(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsageError;
  }
  try {
    return body();
  } catch (const DataError& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return kBadData;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": internal error: " << error.what() << '\n';
    return kInternalError;
  }
}

}  // namespace pw
