// Chow-Liu trees, row by row. A hidden variable, of number -1, is always missing.
#include "../_native/array.hpp"

using namespace clearwood;

namespace {

// One tree or several. Tables stand one after the other in a flat array: column v has
// sizes[v] levels, and p(x_v = k | x_parent = s) is at starts[v] + s * sizes[v] + k.
struct Tree {
    View<const Index, 1> variables, parents, sizes, starts;
    View<const double, 1> table;
    auto fields() { return std::tie(variables, parents, sizes, starts, table); }

    Index n_columns() const { return parents.size(); }
    Index most_levels() const { return *std::max_element(sizes.begin(), sizes.end()); }
    // Probabilities of the levels of a column, given a level of its parent.
    Index row(Index v, Index above) const { return starts(v) + above * sizes(v); }
};

// The level of a column's parent; 0 for the root.
Index level_above(const Tree& tree, View<const Index, 1> levels, Index v) {
    return tree.parents(v) < 0 ? 0 : levels(tree.parents(v));
}

// Levels of encoded rows; -1 for what is missing or unknown, and for numbers too large
// to be a level: columns that are continuous are in no tree.
Matrix<std::int16_t> as_codes(View<const double, 2> values) {
    Matrix<std::int16_t> codes(values.shape());
    std::transform(values.begin(), values.end(), codes.begin(), [](double x) {
        return std::int16_t(0.0 <= x && x < 32767.0 ? x : -1.0);
    });
    return codes;
}

// Fill in the levels of a tree's columns; whether none is missing or unknown.
bool read_levels(View<const std::int16_t, 1> row, const Tree& tree,
                 View<Index, 1> levels) {
    bool complete = true;
    for (Index v = 0; v < tree.n_columns(); ++v) {
        Index level = tree.variables(v) < 0 ? -1 : row(tree.variables(v));
        levels(v) = level < tree.sizes(v) ? level : -1;
        complete &= levels(v) >= 0;
    }
    return complete;
}

// Probability of what is below a column, given how likely each level makes it.
double inner(View<const double, 1> probability, View<const double, 1> evidence) {
    double total = 0.0;
    for (Index k = 0; k < probability.size(); ++k)
        total += probability(k) * evidence(k);
    return total;
}

// Log probability of the levels that are present, from the leaves to the root.
//
// evidence : (columns, levels); evidence[v] becomes, where v is missing, how likely
//     what is below v is for each of its levels, up to a factor. Columns that are
//     present need none: the tree falls apart at them.
// message : (columns, levels); where v and its parent are missing, how likely what is
//     known of v and below is for each level of the parent
double collect(View<const Index, 1> levels, const Tree& tree,
               View<const double, 1> log_table, View<double, 2> evidence,
               View<double, 2> message) {
    double log_p = 0.0;
    for (Index v = 0; v < tree.n_columns(); ++v)
        if (levels(v) < 0) evidence[v].part(0, tree.sizes(v)).fill(1.0);
    for (Index v = tree.n_columns() - 1; v >= 0; --v) {
        Index size = tree.sizes(v), above = level_above(tree, levels, v);
        // Probability of what is known of v and below, given a level of the parent.
        auto likelihood = [&](Index s) {
            Index at = tree.row(v, s);
            if (levels(v) >= 0) return tree.table(at + levels(v));
            return inner(tree.table.part(at, at + size), evidence[v]);
        };
        if (above >= 0) {
            log_p += levels(v) >= 0 ? log_table(tree.row(v, above) + levels(v))
                                    : std::log(likelihood(above));
            continue;
        }
        View<double, 1> of_parent =
            evidence[tree.parents(v)].part(0, tree.sizes(tree.parents(v)));
        double most = 0.0;
        for (Index s = 0; s < of_parent.size(); ++s) {
            message(v, s) = likelihood(s);
            of_parent(s) *= message(v, s);
            most = std::max(most, of_parent(s));
        }
        if (most == 0.0) return -infinity;
        // Of many columns the product would fall below the smallest double.
        for (double& value : of_parent) value /= most;
        log_p += std::log(most);
    }
    return log_p;
}

// Add the weight of a row to the cells it may be in, from the root to the leaves.
//
// evidence, message : from collect
// share : (columns, levels), scratch: where v is missing, the weight of each of its
//     levels
// counts : weights of cells where v is present
// ratios : weights of cells where v is missing, each over the cell's probability
void distribute(View<const Index, 1> levels, double weight, const Tree& tree,
                View<const double, 2> evidence, View<const double, 2> message,
                View<double, 2> share, View<double, 1> counts,
                View<double, 1> ratios) {
    for (Index v = 0; v < tree.n_columns(); ++v) {
        Index parent = tree.parents(v), size = tree.sizes(v);
        Index above = level_above(tree, levels, v);
        Index low = above >= 0 ? above : 0;
        Index high = above >= 0 ? above + 1 : tree.sizes(parent);
        View<const double, 1> below = evidence[v].part(0, size);
        View<double, 1> own = share[v].part(0, size);
        if (levels(v) < 0) own.fill(0.0);
        for (Index s = low; s < high; ++s) {
            double of_row = above >= 0 ? weight : share(parent, s);
            Index at = tree.row(v, s);
            if (levels(v) >= 0) {
                counts(at + levels(v)) += of_row;
                continue;
            }
            if (!(of_row > 0.0)) continue;
            View<const double, 1> table = tree.table.part(at, at + size);
            double ratio = of_row / (above >= 0 ? inner(table, below) : message(v, s));
            View<double, 1> cells = ratios.part(at, at + size);
            for (Index k = 0; k < size; ++k) {
                own(k) += ratio * table(k);
                cells(k) += ratio * below(k);
            }
        }
        if (levels(v) < 0)
            for (Index k = 0; k < size; ++k) own(k) *= below(k);
    }
}

// Log probability of what is present in every row.
//
// codes : (rows, columns), levels; -1 where nothing is known
Vector<double> tree_log_density(View<const std::int16_t, 2> codes, const Tree& tree) {
    Vector<double> result(codes.size(0)), log_table = log_of(tree.table);
    Vector<Index> levels(tree.n_columns());
    Matrix<double> evidence({tree.n_columns(), tree.most_levels()});
    Matrix<double> message(evidence.shape());
    for (Index r = 0; r < result.size(); ++r) {
        if (!read_levels(codes[r], tree, levels)) {
            result(r) = collect(levels, tree, log_table, evidence, message);
            continue;
        }
        double log_p = 0.0;
        for (Index v = 0; v < tree.n_columns(); ++v)
            log_p += log_table(tree.row(v, level_above(tree, levels, v)) + levels(v));
        result(r) = log_p;
    }
    return result;
}

// Expected counts of every cell of the tables, given what is present.
Vector<double> tree_counts(View<const std::int16_t, 2> codes,
                           View<const double, 1> weight, const Tree& tree) {
    Vector<double> counts(tree.table.size()), log_table = log_of(tree.table);
    Vector<double> ratios(tree.table.size());
    Vector<Index> levels(tree.n_columns());
    Matrix<double> evidence({tree.n_columns(), tree.most_levels()});
    Matrix<double> share(evidence.shape()), message(evidence.shape());
    for (Index r = 0; r < codes.size(0); ++r) {
        if (weight(r) == 0.0) continue;
        if (read_levels(codes[r], tree, levels)) {
            for (Index v = 0; v < tree.n_columns(); ++v)
                counts(tree.row(v, level_above(tree, levels, v)) + levels(v)) +=
                    weight(r);
        } else if (collect(levels, tree, log_table, evidence, message) > -infinity) {
            distribute(levels, weight(r), tree, evidence, message, share, counts,
                       ratios);
        }
    }
    for (Index i = 0; i < counts.size(); ++i) counts(i) += ratios(i) * tree.table(i);
    return counts;
}

}  // namespace

void add_chow_liu(nb::module_& module) {
    add_kernel(module, "as_codes", &as_codes);
    add_kernel(module, "tree_log_density", &tree_log_density);
    add_kernel(module, "tree_counts", &tree_counts);
}
