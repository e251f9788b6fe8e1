// Normal distributions of several columns, of rows of which entries are missing (NaN).
// Rows come in an order in which those that lack the same entries are together, so that
// each pattern needs one Cholesky factor. Where a matrix has none they return NaN.
#include "../_numeric/_kernels.hpp"

#include <numbers>

using namespace clearwood;

namespace {

// Inner product of the entries low to high of two rows.
double inner(View<const double, 1> one, View<const double, 1> other, Index low,
             Index high) {
    double total = 0.0;
    for (Index j = low; j < high; ++j) total += one[j] * other[j];
    return total;
}

// Whether two rows lack the same entries.
bool same_pattern(View<const double, 1> one, View<const double, 1> other) {
    for (Index j = 0; j < one.size(); ++j)
        if (std::isnan(one[j]) != std::isnan(other[j])) return false;
    return true;
}

// Sort columns into those that are present and the others; how many are.
Index present_first(View<const double, 1> row, View<Index, 1> at) {
    Index p = 0, q = row.size();
    for (Index j = 0; j < row.size(); ++j) at[std::isnan(row[j]) ? --q : p++] = j;
    return p;
}

// The Cholesky factor of some columns' covariance, in their order.
void factorise(View<const double, 2> covariance, View<const Index, 1> at,
               View<double, 2> factor) {
    for (Index i = 0; i < at.size(); ++i)
        for (Index j = 0; j <= i; ++j) factor(i, j) = covariance(at[i], at[j]);
    cholesky(factor);
}

// Log density of what is present in every row.
Vector<double> log_densities(View<const double, 2> values, View<const Index, 1> order,
                             View<const double, 1> mean,
                             View<const double, 2> covariance) {
    Index d = mean.size();
    Vector<double> result(order.size()), gap(d);
    Vector<Index> at(d);
    Matrix<double> memory({d, d});
    View<double, 2> factor;  // of the p columns that are present
    Index p = 0;
    double constant = 0.0;
    for (Index k = 0; k < order.size(); ++k) {
        View<const double, 1> row = values[order[k]];
        if (k == 0 || !same_pattern(row, values[order[k - 1]])) {
            p = present_first(row, at);
            factor = View<double, 2>(memory.data(), {p, p});
            factorise(covariance, at.part(0, p), factor);
            constant = double(p) * std::log(2.0 * std::numbers::pi) +
                       2.0 * log_diagonal(factor);
        }
        for (Index j = 0; j < p; ++j) gap[j] = row[at[j]] - mean[at[j]];
        solve_lower(factor, gap.part(0, p));
        double total = constant;
        for (Index j = 0; j < p; ++j) total += gap[j] * gap[j];
        result[order[k]] -= 0.5 * total;
    }
    return result;
}

// Weight, sums and products of distances from the mean, as they are expected. Rows
// without any entry are left out.
std::tuple<double, Vector<double>, Matrix<double>> moments_given(
    View<const double, 2> values, View<const double, 1> weight,
    View<const Index, 1> order, View<const double, 1> mean,
    View<const double, 2> covariance) {
    Index d = mean.size();
    double total = 0.0;
    Vector<double> sums(d), gap(d), filled(d);
    Matrix<double> products({d, d}), factor({d, d});
    Vector<Index> at(d);
    Index p = 0;
    double of_pattern = 0.0;
    for (Index k = 0; k < order.size(); ++k) {
        View<const double, 1> row = values[order[k]];
        double own = weight[order[k]];
        if (k == 0 || !same_pattern(row, values[order[k - 1]])) {
            p = present_first(row, at);
            of_pattern = 0.0;
            factorise(covariance, at, factor);
        }
        if (p == 0) continue;
        for (Index j = 0; j < p; ++j)
            filled[at[j]] = gap[j] = row[at[j]] - mean[at[j]];
        solve_lower(factor, gap.part(0, p));
        for (Index j = p; j < d; ++j) filled[at[j]] = inner(factor[j], gap, 0, p);
        for (Index i = 0; i < d; ++i) {
            sums[i] += own * filled[i];
            for (Index j = 0; j < d; ++j) products(i, j) += own * filled[i] * filled[j];
        }
        total += own;
        of_pattern += own;
        if (k + 1 == order.size() || !same_pattern(row, values[order[k + 1]])) {
            for (Index i = p; i < d; ++i)
                for (Index j = p; j < d; ++j)
                    products(at[i], at[j]) +=
                        of_pattern * inner(factor[i], factor[j], p, d);
        }
    }
    return {total, std::move(sums), std::move(products)};
}

}  // namespace

void add_partial_normal(nb::module_& module) {
    add_kernel(module, "log_densities", &log_densities);
    add_kernel(module, "moments_given", &moments_given);
}
