#include "native/dense_layer.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace pw {
namespace {

struct Layer {
  std::vector<float> weights, bias;
};

Layer random_layer(std::size_t outputs, std::size_t inputs, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  Layer layer{std::vector<float>(outputs * inputs), std::vector<float>(outputs)};
  for (float& weight : layer.weights) weight = normal(generator);
  for (float& bias : layer.bias) bias = normal(generator);
  return layer;
}

PaddedRows random_rows(std::size_t rows, std::size_t columns, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  PaddedRows x(rows, columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns; ++i) x.row(row)[i] = normal(generator);
  }
  return x;
}

class DenseLayerTest : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Widths, DenseLayerTest, testing::ValuesIn(DenseLayer::vector_widths()));

// Every remainder of tiles, panels and vectors.
TEST_P(DenseLayerTest, MatchesSumsInDouble) {
  std::mt19937 generator(3);
  for (const std::size_t outputs : {1, 3, 7, 8, 9, 31, 32, 33, 64, 65, 97, 128}) {
    for (const std::size_t inputs : {1, 2, 15, 16, 22, 33, 128}) {
      for (const std::size_t rows : {1, 2, 3, 4, 5, 6, 11, 12, 13, 25, 30}) {
        const Layer numbers = random_layer(outputs, inputs, generator);
        const bool relu = (outputs + inputs + rows) % 2 == 0;
        const DenseLayer layer(outputs, inputs, numbers.weights, numbers.bias, relu, GetParam());
        const PaddedRows x = random_rows(rows, inputs, generator);
        PaddedRows y(rows, outputs);
        layer.forward(x, rows, y);
        for (std::size_t row = 0; row < rows; ++row) {
          for (std::size_t o = 0; o < outputs; ++o) {
            double expected = numbers.bias[o];
            for (std::size_t i = 0; i < inputs; ++i) {
              expected += double{x.row(row)[i]} * numbers.weights[o * inputs + i];
            }
            if (relu) expected = std::max(expected, 0.0);
            ASSERT_NEAR(y.row(row)[o], expected, 1e-4)
                << outputs << " x " << inputs << ", row " << row << " of " << rows;
          }
        }
      }
    }
  }
}

TEST_P(DenseLayerTest, GivesARowTheSameWhateverItsBatch) {
  std::mt19937 generator(4);
  for (const std::size_t outputs : {5, 128, 72}) {
    const Layer numbers = random_layer(outputs, 100, generator);
    const DenseLayer layer(outputs, 100, numbers.weights, numbers.bias, false, GetParam());
    const PaddedRows x = random_rows(40, 100, generator);
    PaddedRows all(40, outputs);
    layer.forward(x, 40, all);
    for (std::size_t row = 0; row < 40; ++row) {
      PaddedRows one(1, 100), alone(1, outputs);
      std::copy(x.row(row), x.row(row) + 100, one.row(0));
      layer.forward(one, 1, alone);
      for (std::size_t o = 0; o < outputs; ++o) ASSERT_EQ(alone.row(0)[o], all.row(row)[o]);
    }
  }
}

TEST_P(DenseLayerTest, KeepsNan) {
  const DenseLayer layer(40, 1, std::vector<float>(40, 1), std::vector<float>(40, 0), true,
                         GetParam());
  PaddedRows x(1, 1), y(1, 40);
  x.row(0)[0] = std::numeric_limits<float>::quiet_NaN();
  layer.forward(x, 1, y);
  for (std::size_t o = 0; o < 40; ++o) EXPECT_TRUE(std::isnan(y.row(0)[o]));
}

}  // namespace
}  // namespace pw
