#include <cstdio>

#include <pw/data_paths.h>
#include <pw/hardware_catalog.h>
#include <pw/model_loader.h>

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  // The program is not installed beside the data, so it is told where they are.
  const std::filesystem::path data = argv[2];
  const pw::HardwareCatalog gpus = pw::HardwareCatalog::read(data / "hardware");
  const pw::OperatorPredictor predictor(gpus.get(argv[1]),
                                        pw::load_models({data / "checkpoints", {}}, {"gemm"}));
  std::printf("%.3f us\n", predictor.predict({pw::GemmConfig{2048, 5120, 5120}})[0].duration_us);
}
