// The inner loops of FAB: table look-ups, responsibilities, histograms.
#include "../../_native/array.hpp"

using namespace clearwood;

namespace {

// Add to each row's scores the table entries of the row's bins.
template <typename Code>
void add_looked_up(View<double, 2> scores, View<const Code, 2> codes,
                   View<const std::int64_t, 1> bin_start, View<const double, 2> table) {
    for (Index n = 0; n < codes.size(0); ++n)
        for (Index d = 0; d < codes.size(1); ++d) {
            Index b = bin_start[d] + codes(n, d);
            for (Index k = 0; k < scores.size(1); ++k) scores(n, k) += table(b, k);
        }
}

// The softmax of one row without its last division: shares of the components, and
// their total.
double softmax_shares(View<const double, 1> log_joint, View<const double, 1> penalty,
                      View<double, 1> share) {
    double largest = -infinity, total = 0.0;
    for (Index k = 0; k < share.size(); ++k) {
        share[k] = log_joint[k] - penalty[k];
        if (share[k] > largest) largest = share[k];
    }
    for (double& part : share) {
        double gap = part - largest;
        // Below -746 the exponential is zero; with many statements nearly all
        // components of a row are there, and the call is what costs.
        part = gap > -746.0 ? std::exp(gap) : 0.0;
        total += part;
    }
    return total;
}

// Softmax over components of log_joint - penalty, per row (eq. 13).
Matrix<double> responsibilities(View<const double, 2> log_joint,
                                View<const double, 1> penalty) {
    Matrix<double> result(log_joint.shape());
    for (Index n = 0; n < log_joint.size(0); ++n) {
        double total = softmax_shares(log_joint[n], penalty, result[n]);
        for (double& share : result[n]) share /= total;
    }
    return result;
}

// Weighted sums over rows of what responsibilities returns, without it.
Vector<double> responsibility_counts(View<const double, 2> log_joint,
                                     View<const double, 1> penalty,
                                     View<const double, 1> weight) {
    Index n_components = log_joint.size(1);
    Vector<double> counts(n_components), share(n_components);
    for (Index n = 0; n < log_joint.size(0); ++n) {
        double total = softmax_shares(log_joint[n], penalty, share);
        for (Index k = 0; k < n_components; ++k)
            counts[k] += weight[n] * (share[k] / total);
    }
    return counts;
}

// Add each row's mass per component to the row's bins.
template <typename Code>
void add_to_histogram(View<double, 2> histogram, View<const Code, 2> codes,
                      View<const std::int64_t, 1> bin_start,
                      View<const double, 2> mass) {
    for (Index n = 0; n < codes.size(0); ++n)
        for (Index d = 0; d < codes.size(1); ++d) {
            View<double, 1> bin = histogram[bin_start[d] + codes(n, d)];
            View<const double, 1> added = mass[n];
            for (Index k = 0; k < bin.size(); ++k) bin[k] += added[k];
        }
}

// Sum over rows of mass times value: components by columns of values.
//
// Written out because the order of additions in a matrix product may depend on the
// number of threads.
Matrix<double> weighted_sums(View<const double, 2> mass, View<const double, 2> values) {
    Matrix<double> sums({mass.size(1), values.size(1)});
    for (Index n = 0; n < mass.size(0); ++n)
        for (Index k = 0; k < mass.size(1); ++k)
            if (mass(n, k) > 0.0)
                for (Index c = 0; c < values.size(1); ++c)
                    sums(k, c) += mass(n, k) * values(n, c);
    return sums;
}

template <typename Code>
void add_for_codes(nb::module_& module) {
    add_kernel(module, "add_looked_up", &add_looked_up<Code>);
    add_kernel(module, "add_to_histogram", &add_to_histogram<Code>);
}

}  // namespace

void add_fab(nb::module_& module) {
    add_for_codes<std::uint8_t>(module);
    add_for_codes<std::uint16_t>(module);
    add_for_codes<std::uint32_t>(module);
    add_kernel(module, "responsibilities", &responsibilities);
    add_kernel(module, "responsibility_counts", &responsibility_counts);
    add_kernel(module, "weighted_sums", &weighted_sums);
}
