// The best cut of an interval.
#include "../_native/array.hpp"

using namespace clearwood;

namespace {

// From a row to the next: the same value; another value, but all rows of both are of
// one class; or any other change. The best cut of rows of several classes is a boundary
// (Fayyad and Irani).
enum Change : std::uint8_t { NO_CHANGE, WITHIN_CLASS, BOUNDARY };

// Part of itself by which one mixture must be less than another.
constexpr double ROUNDING = 1e-12;

// Weight times the entropy of the classes, in nats.
double mixed(View<const double, 1> counts) {
    double total = sum(counts), result = 0.0;
    for (double count : counts)
        if (count > 0.0) result -= count * std::log(count / total);
    return result;
}

// Cut the interval of rows start to stop in two, so that the classes of both parts are
// least mixed.
//
// label : the classes of the rows, in the order of their values; weight of each
// change : to the next row
//
// Returns the first row of the right part (-1 where all values are equal; of equally
// good cuts the first), and the weight of the classes in the left and the right part.
std::tuple<Index, Matrix<double>> best_cut(View<const std::int32_t, 1> label,
                                           View<const double, 1> weight,
                                           View<const std::uint8_t, 1> change,
                                           Index start, Index stop, Index n_classes) {
    Vector<double> left(n_classes), right(n_classes);
    for (Index i = start; i < stop; ++i) right[label[i]] += weight[i];
    Index at = -1;
    double least = infinity;
    for (Index i = start; i < stop - 1; ++i) {
        left[label[i]] += weight[i];
        right[label[i]] -= weight[i];
        if (change[i] == BOUNDARY) {
            double both = mixed(left) + mixed(right);
            if (at < 0 || both < least * (1.0 - ROUNDING)) {
                at = i + 1;
                least = both;
            }
        } else if (change[i] == WITHIN_CLASS && at < 0) {
            at = i + 1;  // stands where all rows are of one class
        }
    }
    // Counted anew, as differences of weights leave remainders.
    Matrix<double> counts({2, n_classes});
    for (Index i = start; i < stop; ++i) counts(i >= at, label[i]) += weight[i];
    return {at, std::move(counts)};
}

}  // namespace

void add_discretize(nb::module_& module) {
    module.attr("WITHIN_CLASS") = int(WITHIN_CLASS);
    module.attr("BOUNDARY") = int(BOUNDARY);
    add_kernel(module, "best_cut", &best_cut);
}
