#pragma once

namespace pw {

// C[m,n] = A[m,k] B[k,n], in numbers that estimates calculate with.
inline double matrix_operations(double m, double n, double k) { return 2 * m * n * k; }
inline double matrix_bytes(double m, double n, double k, double element_bytes) {
  return element_bytes * (m * k + n * k + m * n);
}

}  // namespace pw
