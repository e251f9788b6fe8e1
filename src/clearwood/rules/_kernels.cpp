// Sums over statements: prefix sums along the bins where they are nested.
//
// Numeric statements are sorted by feature, then by first_true. Bin b of a feature lies
// where every statement with first_true <= b is true and every other is false.
#include "../_native/array.hpp"

using namespace clearwood;

namespace {

// What every statement is about, and from which bin on it is true.
struct NumericStatements {
    View<const std::int64_t, 1> feature, first_true;
    View<const bool, 1> missing_true;

    auto fields() { return std::tie(feature, first_true, missing_true); }

    Index size() const { return feature.size(); }

    // Where the statements of the feature of one end.
    Index end_of_feature(Index begin) const {
        Index end = begin;
        while (end < size() && feature[end] == feature[begin]) ++end;
        return end;
    }
};

// The bins in which every statement is true, in one table: those of statement s are
// truth[borders[s]:borders[s + 1]].
struct CategoryStatements {
    View<const std::int64_t, 1> feature;
    View<const bool, 1> truth;
    View<const std::int64_t, 1> borders;

    auto fields() { return std::tie(feature, truth, borders); }
};

inline void add(View<double, 1> sums, View<const double, 1> terms) {
    for (Index k = 0; k < sums.size(); ++k) sums[k] += terms[k];
}

// Add to table[bin] the value of every statement of the bin's feature.
void add_numeric_statements(View<double, 2> table,
                            View<const std::int64_t, 1> bin_start,
                            View<const std::int64_t, 1> n_bins,
                            const NumericStatements& statements,
                            View<const double, 2> when_true,
                            View<const double, 2> when_false) {
    Vector<double> running(table.size(1));
    for (Index begin = 0, end; begin < statements.size(); begin = end) {
        end = statements.end_of_feature(begin);
        Index base = bin_start[statements.feature[begin]];
        Index missing = n_bins[statements.feature[begin]] - 1;
        // True statements accumulate upwards, false ones downwards. All terms of a sum
        // have one sign when they are logarithms, so nothing cancels.
        running.fill(0.0);
        Index statement = begin;
        for (Index b = 0; b < missing; ++b) {
            while (statement < end && statements.first_true[statement] <= b)
                add(running, when_true[statement++]);
            add(table[base + b], running);
        }
        running.fill(0.0);
        statement = end - 1;
        for (Index b = missing - 1; b >= 0; --b) {
            while (statement >= begin && statements.first_true[statement] > b)
                add(running, when_false[statement--]);
            add(table[base + b], running);
        }
        for (statement = begin; statement < end; ++statement) {
            bool truth = statements.missing_true[statement];
            add(table[base + missing], (truth ? when_true : when_false)[statement]);
        }
    }
}

// Mass of the bins in which each statement is true, and is false.
void sum_numeric_statements(View<double, 2> true_mass, View<double, 2> false_mass,
                            View<const std::int64_t, 1> bin_start,
                            View<const std::int64_t, 1> n_bins,
                            const NumericStatements& statements,
                            View<const double, 2> histogram) {
    Vector<double> running(histogram.size(1));
    for (Index begin = 0, end; begin < statements.size(); begin = end) {
        end = statements.end_of_feature(begin);
        Index base = bin_start[statements.feature[begin]];
        Index missing = n_bins[statements.feature[begin]] - 1;
        running.fill(0.0);
        Index b = 0;
        for (Index statement = begin; statement < end; ++statement) {
            while (b < statements.first_true[statement])
                add(running, histogram[base + b++]);
            std::copy(running.begin(), running.end(), false_mass[statement].begin());
        }
        running.fill(0.0);
        b = missing - 1;
        for (Index statement = end - 1; statement >= begin; --statement) {
            while (b >= statements.first_true[statement])
                add(running, histogram[base + b--]);
            std::copy(running.begin(), running.end(), true_mass[statement].begin());
        }
        for (Index statement = begin; statement < end; ++statement) {
            bool truth = statements.missing_true[statement];
            add((truth ? true_mass : false_mass)[statement], histogram[base + missing]);
        }
    }
}

// As add_numeric_statements, bin by bin.
void add_category_statements(View<double, 2> table,
                             View<const std::int64_t, 1> bin_start,
                             const CategoryStatements& statements,
                             View<const double, 2> when_true,
                             View<const double, 2> when_false) {
    for (Index s = 0; s < statements.feature.size(); ++s) {
        Index base = bin_start[statements.feature[s]] - statements.borders[s];
        for (Index i = statements.borders[s]; i < statements.borders[s + 1]; ++i)
            add(table[base + i], (statements.truth[i] ? when_true : when_false)[s]);
    }
}

// As sum_numeric_statements, bin by bin.
void sum_category_statements(View<double, 2> true_mass, View<double, 2> false_mass,
                             View<const std::int64_t, 1> bin_start,
                             const CategoryStatements& statements,
                             View<const double, 2> histogram) {
    for (Index s = 0; s < statements.feature.size(); ++s) {
        Index base = bin_start[statements.feature[s]] - statements.borders[s];
        for (Index i = statements.borders[s]; i < statements.borders[s + 1]; ++i)
            add((statements.truth[i] ? true_mass : false_mass)[s], histogram[base + i]);
    }
}

}  // namespace

void add_rules(nb::module_& module) {
    add_kernel(module, "add_numeric_statements", &add_numeric_statements);
    add_kernel(module, "sum_numeric_statements", &sum_numeric_statements);
    add_kernel(module, "add_category_statements", &add_category_statements);
    add_kernel(module, "sum_category_statements", &sum_category_statements);
}
