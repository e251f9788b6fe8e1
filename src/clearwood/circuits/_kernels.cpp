// Passes over compiled circuits, and over the leaves that are many or are trees.
#include "_kernels.hpp"

using namespace clearwood;
using namespace clearwood::circuits;

namespace {

// Log of a share that leaves a sum as it is, to the last bit of a double.
constexpr double NEGLIGIBLE = -40.0;

Vector<double> log_of(View<const double, 1> values) {
    Vector<double> result(values.size());
    std::transform(values.begin(), values.end(), result.begin(),
                   [](double value) { return std::log(value); });
    return result;
}

// Log values of sums and products from those of their children.
//
// log : (nodes, rows), holds the sums of the log densities of leaves; changed in place
void pass_upward(View<double, 2> log, const Edges& edges) {
    auto [n_nodes, n_rows] = log.shape();
    Vector<double> total(n_rows);
    for (Index node = 0; node < n_nodes; ++node) {
        View<double, 1> own = log[node];
        Index begin = edges.first(node), end = edges.first(node + 1);
        if (!edges.is_sum(node)) {
            for (Index e = begin; e < end; ++e) {
                View<double, 1> below = log[edges.child(e)];
                for (Index r = 0; r < n_rows; ++r) own(r) += below(r);
            }
            continue;
        }
        own.fill(-infinity);
        total.fill(0.0);
        for (Index e = begin; e < end; ++e) {
            View<double, 1> below = log[edges.child(e)];
            double weight = edges.log_weight(e);
            for (Index r = 0; r < n_rows; ++r)
                own(r) = std::max(own(r), below(r) + weight);
        }
        for (Index e = begin; e < end; ++e) {
            View<double, 1> below = log[edges.child(e)];
            double weight = edges.log_weight(e);
            for (Index r = 0; r < n_rows; ++r) {
                double gap = below(r) + weight - own(r);
                if (gap == 0.0)
                    total(r) += 1.0;
                else if (gap > NEGLIGIBLE)  // NaN where all is impossible
                    total(r) += std::exp(gap);
            }
        }
        for (Index r = 0; r < n_rows; ++r)
            if (total(r) > 1.0) own(r) += std::log(total(r));
    }
}

// Probability that a row comes to a node, given the row, times its weight.
//
// flow : (nodes, rows), holds those of the root, the last node; filled in
//
// Returns the sum over rows for every edge of a sum.
Vector<double> pass_downward(View<const double, 2> log, View<double, 2> flow,
                             const Edges& edges) {
    auto [n_nodes, n_rows] = log.shape();
    Vector<double> expected(edges.child.size());
    for (Index node = n_nodes - 1; node >= 0; --node) {
        for (Index e = edges.first(node); e < edges.first(node + 1); ++e) {
            Index below = edges.child(e);
            if (!edges.is_sum(node)) {
                std::copy(flow[node].begin(), flow[node].end(), flow[below].begin());
                continue;
            }
            for (Index r = 0; r < n_rows; ++r) {
                flow(below, r) = 0.0;
                if (!(flow(node, r) > 0.0)) continue;
                double gap = log(below, r) + edges.log_weight(e) - log(node, r);
                if (gap > NEGLIGIBLE) {
                    flow(below, r) = flow(node, r) * std::exp(gap);
                    expected(e) += flow(below, r);
                }
            }
        }
    }
    return expected;
}

// Leaves over levels

// Add the log probabilities of leaves over levels to the nodes that they belong to.
//
// log : (nodes, rows), changed in place; columns : (variables, rows)
void add_levels(View<double, 2> log, View<const double, 2> columns,
                const Levels& leaves) {
    for (Index i = 0; i < leaves.node.size(); ++i) {
        View<double, 1> own = log[leaves.node(i)];
        View<const double, 1> x = columns[leaves.variable(i)];
        Vector<double> log_p = log_of(leaves.of(i));
        for (Index r = 0; r < x.size(); ++r)
            if (leaves.knows(i, x(r))) own(r) += log_p(Index(x(r)));
    }
}

// What comes to every level of every leaf.
Vector<double> level_flows(View<const double, 2> flow, View<const double, 2> columns,
                           const Levels& leaves) {
    Vector<double> counts(leaves.probability.size());
    for (Index i = 0; i < leaves.node.size(); ++i) {
        View<const double, 1> own = flow[leaves.node(i)];
        View<const double, 1> x = columns[leaves.variable(i)];
        for (Index r = 0; r < x.size(); ++r)
            if (leaves.knows(i, x(r))) counts(leaves.first(i) + Index(x(r))) += own(r);
    }
    return counts;
}

// Normal leaves

// Add the log densities of normal leaves to the nodes that they belong to.
//
// log : (nodes, rows), changed in place; columns : (variables, rows), NaN is missing
void add_normals(View<double, 2> log, View<const double, 2> columns,
                 const Normals& leaves) {
    for (Index i = 0; i < leaves.node.size(); ++i) {
        View<double, 1> own = log[leaves.node(i)];
        View<const double, 1> x = columns[leaves.variable(i)];
        double mean = leaves.mean(i), variance = leaves.variance(i);
        double constant = std::log(2.0 * std::numbers::pi * variance);
        for (Index r = 0; r < x.size(); ++r) {
            if (std::isnan(x(r))) continue;
            double gap = x(r) - mean;
            own(r) -= 0.5 * (constant + gap * gap / variance);
        }
    }
}

// Weight, sum and sum of squares of distances from the mean, one row per leaf.
Matrix<double> normal_moments(View<const double, 2> flow, View<const double, 2> columns,
                              const Normals& leaves) {
    Matrix<double> moments({leaves.node.size(), 3});
    for (Index i = 0; i < leaves.node.size(); ++i) {
        View<const double, 1> own = flow[leaves.node(i)];
        View<const double, 1> x = columns[leaves.variable(i)];
        double weight = 0.0, sum = 0.0, squares = 0.0;
        for (Index r = 0; r < x.size(); ++r) {
            if (std::isnan(x(r))) continue;
            double gap = x(r) - leaves.mean(i);
            weight += own(r);
            sum += own(r) * gap;
            squares += own(r) * gap * gap;
        }
        moments(i, 0) = weight;
        moments(i, 1) = sum;
        moments(i, 2) = squares;
    }
    return moments;
}

// Chow-Liu trees

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
        Index level = row(tree.variables(v));
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
double collect(View<const Index, 1> levels, const Tree& tree,
               View<const double, 1> log_table, View<double, 2> evidence) {
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
            of_parent(s) *= likelihood(s);
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
// evidence : from collect
// share : (columns, levels), scratch: where v is missing, the weight of each of its
//     levels
void distribute(View<const Index, 1> levels, double weight, const Tree& tree,
                View<const double, 2> evidence, View<double, 2> share,
                View<double, 1> counts) {
    for (Index v = 0; v < tree.n_columns(); ++v) {
        Index parent = tree.parents(v), size = tree.sizes(v);
        Index above = level_above(tree, levels, v);
        if (levels(v) < 0) share[v].part(0, size).fill(0.0);
        Index low = above >= 0 ? above : 0;
        Index high = above >= 0 ? above + 1 : tree.sizes(parent);
        for (Index s = low; s < high; ++s) {
            double own = above >= 0 ? weight : share(parent, s);
            Index at = tree.row(v, s);
            if (levels(v) >= 0) {
                counts(at + levels(v)) += own;
                continue;
            }
            if (!(own > 0.0)) continue;
            double below = inner(tree.table.part(at, at + size), evidence[v]);
            for (Index k = 0; k < size; ++k) {
                double part = own * tree.table(at + k) * evidence(v, k) / below;
                share(v, k) += part;
                counts(at + k) += part;
            }
        }
    }
}

// Log probability of what is present in every row.
//
// codes : (rows, columns), levels; -1 where nothing is known
Vector<double> tree_log_density(View<const std::int16_t, 2> codes, const Tree& tree) {
    Vector<double> result(codes.size(0)), log_table = log_of(tree.table);
    Vector<Index> levels(tree.n_columns());
    Matrix<double> evidence({tree.n_columns(), tree.most_levels()});
    for (Index r = 0; r < result.size(); ++r) {
        if (!read_levels(codes[r], tree, levels)) {
            result(r) = collect(levels, tree, log_table, evidence);
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
    Vector<Index> levels(tree.n_columns());
    Matrix<double> evidence({tree.n_columns(), tree.most_levels()});
    Matrix<double> share(evidence.shape());
    for (Index r = 0; r < codes.size(0); ++r) {
        if (weight(r) == 0.0) continue;
        if (read_levels(codes[r], tree, levels)) {
            for (Index v = 0; v < tree.n_columns(); ++v)
                counts(tree.row(v, level_above(tree, levels, v)) + levels(v)) +=
                    weight(r);
        } else if (collect(levels, tree, log_table, evidence) > -infinity) {
            distribute(levels, weight(r), tree, evidence, share, counts);
        }
    }
    return counts;
}

}  // namespace

void add_circuits(nb::module_& module) {
    add_kernel(module, "pass_upward", &pass_upward);
    add_kernel(module, "pass_downward", &pass_downward);
    add_kernel(module, "add_levels", &add_levels);
    add_kernel(module, "level_flows", &level_flows);
    add_kernel(module, "add_normals", &add_normals);
    add_kernel(module, "normal_moments", &normal_moments);
    add_kernel(module, "as_codes", &as_codes);
    add_kernel(module, "tree_log_density", &tree_log_density);
    add_kernel(module, "tree_counts", &tree_counts);
    add_scaled_passes(module);
}
