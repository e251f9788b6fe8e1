// What MDLP cuts, and the best cut of an interval.
#include <bit>
#include <numeric>
#include <vector>

#include "../_native/array.hpp"

using namespace clearwood;

namespace {

// Part of itself by which one mixture must be less than another.
constexpr double ROUNDING = 1e-12;

// Weight times the entropy of the classes, in nats.
double mixed(View<const double, 1> counts) {
    double total = sum(counts), result = 0.0;
    for (double count : counts)
        if (count > 0.0) result -= count * std::log(count / total);
    return result;
}

// A row and the bits of its value, which rise with it.
struct Key {
    std::uint64_t bits;
    Index row;
};

// Rows that count, in the order of their values; rows of one value as they come.
//
// Sorted by one byte of the bits after the other, from the last on.
std::vector<Key> in_order(View<const double, 1> values, View<const double, 1> weight) {
    std::vector<Key> keys;
    for (Index i = 0; i < values.size(); ++i) {
        if (std::isnan(values(i)) || !(weight(i) > 0.0)) continue;
        auto bits = std::bit_cast<std::uint64_t>(values(i));
        std::uint64_t sign = std::uint64_t(1) << 63;
        keys.push_back({bits & sign ? ~bits : bits | sign, i});
    }
    std::array<std::array<Index, 257>, 8> first{};  // of every byte, where each begins
    for (Key key : keys)
        for (int byte = 0; byte < 8; ++byte) ++first[byte][(key.bits >> 8 * byte & 255) + 1];
    std::vector<Key> sorted(keys.size());
    for (int byte = 0; byte < 8; ++byte) {
        auto& place = first[byte];
        if (*std::max_element(place.begin(), place.end()) == Index(keys.size())) continue;
        std::partial_sum(place.begin(), place.end(), place.begin());
        for (Key key : keys) sorted[place[key.bits >> 8 * byte & 255]++] = key;
        keys.swap(sorted);
    }
    return keys;
}

// Rows in the order of their values as runs, of one class each: rows of one value and
// class, and those of neighbouring values if all rows of these are of one class. The
// best cut of rows of several classes is between two such runs (Fayyad and Irani).
//
// Returns the values in their order, and of every run its place there (of rows of one
// value and several classes, where the value begins), its class, its weight, and whether
// a cut may stand after it.
std::tuple<Vector<double>, Vector<Index>, Vector<std::int32_t>, Vector<double>,
           Vector<bool>>
runs(View<const double, 1> values, View<const Index, 1> label,
     View<const double, 1> weight, Index n_classes) {
    std::vector<Key> order = in_order(values, weight);
    Index n_rows = Index(order.size()), n = 0;  // runs so far
    Vector<double> sorted(n_rows), weight_of(n_rows), counts(n_classes);
    Vector<std::int32_t> label_of(n_rows);
    for (Index i = 0; i < n_rows; ++i) {
        sorted(i) = values(order[i].row);
        label_of(i) = std::int32_t(label(order[i].row));
        weight_of(i) = weight(order[i].row);
    }
    Vector<Index> start(n_rows);
    Vector<bool> boundary(n_rows);
    std::vector<std::int32_t> classes;  // of a value
    bool pure = false;  // whether the value before has rows of one class only
    for (Index i = 0, stop = 0; i < n_rows; i = stop) {
        classes.clear();
        for (; stop < n_rows && sorted(stop) == sorted(i); ++stop) {
            if (counts(label_of(stop)) == 0.0) classes.push_back(label_of(stop));
            counts(label_of(stop)) += weight_of(stop);
        }
        bool joins = pure && classes.size() == 1 && label_of(n - 1) == classes[0];
        pure = classes.size() == 1;
        if (n > 0 && !joins) boundary(n - 1) = true;
        for (std::int32_t own : classes) {  // runs are fewer than the rows read so far
            if (!joins) {
                start(n) = i;
                label_of(n) = own;
                weight_of(n++) = 0.0;
            }
            weight_of(n - 1) += counts(own);
            counts(own) = 0.0;
        }
    }
    return {std::move(sorted), copy_of(start.part(0, n)), copy_of(label_of.part(0, n)),
            copy_of(weight_of.part(0, n)), copy_of(boundary.part(0, n))};
}

// Cut the interval of runs start to stop in two, so that the classes of both parts are
// least mixed.
//
// label, weight, boundary : of runs
//
// Returns the first run of the right part (-1 where there is no boundary; of equally
// good cuts the first), and the weight of the classes in the left and the right part.
std::tuple<Index, Matrix<double>> best_cut(View<const std::int32_t, 1> label,
                                           View<const double, 1> weight,
                                           View<const bool, 1> boundary,
                                           Index start, Index stop, Index n_classes) {
    Vector<double> left(n_classes), right(n_classes);
    for (Index i = start; i < stop; ++i) right[label[i]] += weight[i];
    Index at = -1;
    double least = infinity;
    for (Index i = start; i < stop - 1; ++i) {
        left[label[i]] += weight[i];
        right[label[i]] -= weight[i];
        if (!boundary[i]) continue;
        double both = mixed(left) + mixed(right);
        if (at < 0 || both < least * (1.0 - ROUNDING)) {
            at = i + 1;
            least = both;
        }
    }
    // Counted anew, as differences of weights leave remainders.
    Matrix<double> counts({2, n_classes});
    for (Index i = start; i < stop; ++i) counts(i >= at, label[i]) += weight[i];
    return {at, std::move(counts)};
}

}  // namespace

void add_discretize(nb::module_& module) {
    add_kernel(module, "runs", &runs);
    add_kernel(module, "best_cut", &best_cut);
}
