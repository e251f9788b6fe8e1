// Passes over compiled circuits, and over the leaves that are many.
#include "_kernels.hpp"

using namespace clearwood;
using namespace clearwood::circuits;

namespace {

// Log of a share that leaves a sum as it is, to the last bit of a double.
constexpr double NEGLIGIBLE = -40.0;

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

}  // namespace

void add_circuits(nb::module_& module) {
    add_kernel(module, "pass_upward", &pass_upward);
    add_kernel(module, "pass_downward", &pass_downward);
    add_kernel(module, "add_levels", &add_levels);
    add_kernel(module, "level_flows", &level_flows);
    add_kernel(module, "add_normals", &add_normals);
    add_kernel(module, "normal_moments", &normal_moments);
    add_scaled_passes(module);
}
