#include <pw.h>
#include <stdio.h>

int main(int argc, char** argv) {
  pw_predictor* predictor = NULL;
  const pw_operator op = {PW_GEMM, {{2048, 5120, 5120}}};
  pw_operator_prediction found;
  if (argc != 2 || pw_predictor_create(argv[1], NULL, &predictor) != PW_OK ||
      pw_predict_operators(predictor, &op, 1, &found) != PW_OK) {
    fprintf(stderr, "%s\n", pw_last_error());
    return 1;
  }
  printf("%.3f us\n", found.duration_us);
  pw_predictor_destroy(predictor);
  return 0;
}
