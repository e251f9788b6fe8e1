// Splits of one node that are tried, alone and with the tree below it.
#include "_kernels.hpp"

#include <numeric>

using namespace clearwood;
using namespace clearwood::search;

namespace {

// Features that are tried where one split is moved, in order of promise.
constexpr Index N_TRIED = 4;

// Python's FlatTree: each node stands before its children, the root first.
struct FlatTree {
    View<const Index, 1> feature;   // of the split; -1 in a leaf
    View<const bool, 2> goes_left;  // (n_nodes, largest number of bins)
    View<const Index, 2> children;  // (n_nodes, 2)

    auto fields() { return std::tie(feature, goes_left, children); }

    Index n_nodes() const { return feature.size(); }
};

// Python's NodePlace, which says what its fields mean.
struct NodePlace {
    View<const Index, 1> rows;
    View<const bool, 1> box;
    Index literals;

    auto fields() { return std::tie(rows, box, literals); }
};

// Splits of a place that are tried, the most promising first: what each costs, its
// feature, and which of its bins go left (n_splits, largest number of bins).
using Tried = std::tuple<Vector<double>, Vector<Index>, Matrix<bool>>;

// The leaf below a node that each of some rows comes to.
template <typename Bin>
Vector<Index> leaves_of_rows(const Grid<Bin>& grid, View<const Index, 1> rows,
                             const FlatTree& tree, Index below) {
    auto found = Vector<Index>::empty({rows.size()});
    for (Index j = 0; j < rows.size(); ++j) {
        Index node = below;
        while (tree.feature[node] >= 0) {
            Bin bin = grid.columns(tree.feature[node], rows[j]);
            node = tree.children(node, !tree.goes_left(node, bin));
        }
        found[j] = node;
    }
    return found;
}

// Sums of stats over the rows that come to each leaf: (n_nodes, n_scores + 3).
template <typename Bin>
Matrix<double> sums_of_leaves(const TreeProblem<Bin>& problem,
                              View<const Index, 1> rows, View<const Index, 1> leaf,
                              Index n_nodes) {
    Matrix<double> sums({n_nodes, problem.stats.size(1)});
    for (Index j = 0; j < rows.size(); ++j)
        add_line(problem.stats[rows[j]].begin(), sums[leaf[j]].begin(), sums.size(1));
    return sums;
}

// Literals of the boxes on both sides of a split, by those of the box that is split.
//
// part : the split feature's part of that box
template <typename Bin>
std::array<Index, 2> literals_of_sides(const TreeProblem<Bin>& problem, Index literals,
                                       View<const bool, 1> part, Index feature,
                                       View<const bool, 1> goes_left) {
    View<const bool, 1> seen = problem.grid.part(problem.seen, feature);
    bool is_category = problem.grid.is_category[feature];
    Index others = literals - part_literals(part, seen, is_category);
    std::array<Index, 2> found;
    Vector<bool> side(part.size());
    for (bool is_left : {true, false}) {
        for (Index b = 0; b < part.size(); ++b)
            side[b] = part[b] && goes_left[b] == is_left;
        found[!is_left] = others + part_literals(side, seen, is_category);
    }
    return found;
}

// Loss and literals of the leaves of a tree; infinite with too little support.
//
// place : of its root
// sums : of its leaves
template <typename Bin>
double cost_of_leaves(const TreeProblem<Bin>& problem, const NodePlace& place,
                      View<const double, 2> sums, const FlatTree& tree) {
    Index support = sums.size(1) - 2;
    Vector<Index> literals(tree.n_nodes()), parent(tree.n_nodes(), -1);
    literals[0] = place.literals;
    double total = 0.0;
    for (Index node = 0; node < tree.n_nodes(); ++node) {
        Index d = tree.feature[node];
        if (d < 0) {
            if (sums(node, support) < problem.min_samples_leaf) return infinity;
            total += leaf_loss(sums[node], problem.leaf) +
                     problem.literal * double(literals[node]);
            continue;
        }
        Vector<bool> part = copy_of(problem.grid.part(place.box, d));
        for (Index below = node, above; (above = parent[below]) >= 0; below = above) {
            if (tree.feature[above] != d) continue;
            bool is_left = tree.children(above, 0) == below;
            for (Index b = 0; b < part.size(); ++b)
                part[b] &= tree.goes_left(above, b) == is_left;
        }
        auto sides = literals_of_sides(problem, literals[node], part, d,
                                       tree.goes_left[node]);
        for (Index side = 0; side < 2; ++side) {
            Index child = tree.children(node, side);
            parent[child] = node;
            literals[child] = sides[side];
        }
    }
    return total;
}

// What a tree costs in some place.
template <typename Bin>
double cost_of_tree(const TreeProblem<Bin>& problem, const NodePlace& place,
                    const FlatTree& tree) {
    Vector<Index> leaf = leaves_of_rows(problem.grid, place.rows, tree, 0);
    auto sums = sums_of_leaves<Bin>(problem, place.rows, leaf, tree.n_nodes());
    return cost_of_leaves<Bin>(problem, place, sums, tree);
}

// What each of some rows would cost in a leaf that predicts what it predicts.
//
// sums : of the leaves, by which they predict what they predict
// at : the leaf of each row
template <typename Bin>
Vector<double> costs_of_rows(const TreeProblem<Bin>& problem, View<const Index, 1> rows,
                             View<const double, 2> sums, View<const Index, 1> at) {
    const LossForm& leaf = problem.leaf;
    Index n_nodes = sums.size(0), n_scores = sums.size(1) - N_EXTRA;
    Matrix<double> means({n_nodes, n_scores});
    Vector<double> constant(n_nodes);
    Vector<Index> least(n_nodes);
    for (Index node = 0; node < n_nodes; ++node) {
        View<double, 1> line = means[node];
        double weight = std::max(sums(node, n_scores), 1e-300);
        for (Index c = 0; c < n_scores; ++c) line[c] = sums(node, c) / weight;
        least[node] = std::min_element(line.begin(), line.end()) - line.begin();
        if (leaf.kind == LOG_MEAN) {
            constant[node] = sum(line);
            for (double& mean : line) mean = std::log(std::max(mean, 1e-300));
        } else if (leaf.kind == LOG_VARIANCE) {
            for (Index c = 0; c < n_scores; c += 2) {
                line[c + 1] = std::max(line[c + 1] - line[c] * line[c], 1e-300);
                constant[node] += std::log(line[c + 1]);
            }
        } else {
            double squares = 0.0;
            for (double mean : line) squares += mean * mean;
            constant[node] = leaf.soft * squares;
        }
    }
    auto costs = Vector<double>::empty({rows.size()});
    for (Index j = 0; j < rows.size(); ++j) {
        View<const double, 1> line = problem.stats[rows[j]], mean = means[at[j]];
        double weight = line[n_scores], cost = weight * constant[at[j]];
        if (leaf.kind == LOG_MEAN) {
            cost -= dot_product(line, mean);
        } else if (leaf.kind == LOG_VARIANCE) {
            for (Index c = 0; c < n_scores; c += 2) {
                double away = line[c + 1] - 2.0 * mean[c] * line[c];
                away += weight * mean[c] * mean[c];
                cost += away / mean[c + 1];
            }
        } else {
            cost -= 2.0 * leaf.soft * dot_product(line, mean);
            cost += leaf.hard * line[least[at[j]]];
        }
        costs[j] = cost;
    }
    return costs;
}

// Stats (n_rows, 2 + 3) for sending each of some rows to the side where it costs less.
//
// left, right : what each costs there
Matrix<double> stats_of_sides(View<const Index, 1> rows, View<const double, 1> left,
                              View<const double, 1> right,
                              View<const double, 2> stats) {
    auto found = Matrix<double>::empty({rows.size(), 2 + N_EXTRA});
    for (Index j = 0; j < rows.size(); ++j) {
        double support = stats(rows[j], stats.size(1) - 2);
        std::array<double, 2 + N_EXTRA> line = {left[j], right[j], 1.0, support, 1.0};
        std::copy(line.begin(), line.end(), found[j].begin());
    }
    return found;
}

// The features whose splits lose least, at most N_TRIED.
Vector<Index> most_promising(View<const double, 1> losses) {
    Vector<Index> order(losses.size());
    std::iota(order.begin(), order.end(), Index(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return losses[a] < losses[b]; });
    Index n = 0;
    while (n < std::min(N_TRIED, order.size()) && losses[order[n]] < infinity) ++n;
    return copy_of(order.part(0, n));
}

// The most promising splits of a place into two leaves.
//
// losses, goes_left : of the best split of each feature
template <typename Bin>
Tried splits_into_leaves(const TreeProblem<Bin>& problem, const NodePlace& place,
                         View<const double, 1> losses, View<const bool, 1> goes_left) {
    Vector<Index> features = most_promising(losses);
    Vector<double> costs(features.size());
    Matrix<bool> masks({features.size(), problem.grid.most_bins()});
    for (Index j = 0; j < features.size(); ++j) {
        Index d = features[j];
        View<const bool, 1> mask = problem.grid.part(goes_left, d);
        std::copy(mask.begin(), mask.end(), masks[j].begin());
        auto [left, right] = literals_of_sides(
            problem, place.literals, problem.grid.part(place.box, d), d, mask);
        costs[j] = losses[d] + problem.literal * double(left + right);
    }
    return {std::move(costs), std::move(features), std::move(masks)};
}

// Splits that may be better at the root of a tree, what is below being kept: each row
// is sent to the side that costs less as it stands, as nearly as a split can.
template <typename Bin>
Tried splits_above(const TreeProblem<Bin>& problem, const NodePlace& place,
                   const FlatTree& tree) {
    const Grid<Bin>& grid = problem.grid;
    View<const Index, 1> rows = place.rows;
    // Which leaf each row comes to on the left and on the right, and after a split.
    Vector<Index> left = leaves_of_rows(grid, rows, tree, tree.children(0, 0));
    Vector<Index> right = leaves_of_rows(grid, rows, tree, tree.children(0, 1));
    auto leaf = Vector<Index>::empty({rows.size()});
    auto sums_after = [&](Index d, View<const bool, 1> mask) {
        View<const Bin, 1> column = grid.columns[d];
        for (Index j = 0; j < rows.size(); ++j)
            leaf[j] = mask[column[rows[j]]] ? left[j] : right[j];
        return sums_of_leaves<Bin>(problem, rows, leaf, tree.n_nodes());
    };
    // What it costs on either side, where leaves predict what they predict now.
    Matrix<double> sums = sums_after(tree.feature[0], tree.goes_left[0]);
    Vector<double> left_cost = costs_of_rows<Bin>(problem, rows, sums, left);
    Vector<double> right_cost = costs_of_rows<Bin>(problem, rows, sums, right);
    Matrix<double> stats = stats_of_sides(rows, left_cost, right_cost, problem.stats);
    LossForm least_cost{SQUARES, 1.0, 0.0};
    auto [losses, goes_left] =
        best_splits_of(grid, rows, stats, least_cost, problem.min_samples_leaf);
    // What the tree costs with each of the best of these splits.
    Vector<Index> features = most_promising(losses), feature = copy_of(tree.feature);
    Vector<double> costs(features.size());
    Matrix<bool> masks({features.size(), grid.most_bins()});
    Matrix<bool> sides = copy_of(tree.goes_left);
    for (Index j = 0; j < features.size(); ++j) {
        Index d = features[j];
        View<const Bin, 1> column = grid.columns[d];
        View<bool, 1> mask = masks[j].part(0, grid.n_bins[d]);
        View<bool, 1> best = grid.part(goes_left, d);
        double on_left = 0.0;
        for (Index i = 0; i < rows.size(); ++i)
            on_left += number_if(best[column[rows[i]]], left_cost[i] - right_cost[i]);
        // Whoever costs less on the right goes there.
        for (Index b = 0; b < mask.size(); ++b) mask[b] = best[b] != (on_left > 0.0);
        feature[0] = d;
        std::copy(masks[j].begin(), masks[j].end(), sides[0].begin());
        Matrix<double> then = sums_after(d, mask);
        costs[j] = cost_of_leaves(problem, place, then,
                                  FlatTree{feature, sides, tree.children});
    }
    return {std::move(costs), std::move(features), std::move(masks)};
}

// The bins of values, ascending, after which a feature is cut: all that hold rows if
// they are no more than so many, else those with equal numbers of rows between.
//
// n_rows : of each bin
Vector<Index> bins_to_cut_after(View<const Index, 1> n_rows, Index most,
                                bool take_all) {
    Index n_cuts = 0, next = 1, upto = 0, total = sum(n_rows);
    Vector<Index> cuts(n_rows.size());
    for (Index b = 0; b < n_rows.size(); ++b) {
        upto += n_rows[b];
        double share = double(upto) / double(total);
        auto is_reached = [&] { return share >= double(next) / double(most + 1); };
        bool is_cut = take_all ? n_rows[b] > 0 : next <= most && is_reached();
        if (is_cut) cuts[n_cuts++] = b;
        while (next <= most && is_reached()) ++next;
    }
    return copy_of(cuts.part(0, n_cuts));
}

// Cuts of numeric features to look ahead of: all of each, if they are few, else with
// equal numbers of rows between. Missing values, where there are some, are tried on
// both sides.
//
// most : of each feature
//
// Returns the feature of each cut, and which of its bins go left: (n_cuts, largest
// number of bins).
template <typename Bin>
std::tuple<Vector<Index>, Matrix<bool>> spread_cuts(const Grid<Bin>& grid,
                                                    View<const Index, 1> rows,
                                                    View<const Index, 1> features,
                                                    Index most) {
    Index n_found = 0, n_most = features.size() * std::max<Index>(most, 2);
    Vector<Index> feature(n_most);
    Matrix<bool> masks({n_most, grid.most_bins()});
    for (Index d : features) {
        View<const Bin, 1> column = grid.columns[d];
        Index last = grid.n_bins[d] - 1;
        Vector<Index> n_rows(last + 1);
        for (Index i : rows) ++n_rows[column[i]];
        View<const Index, 1> of_values = n_rows.part(0, last);
        Index n_filled = last - std::count(of_values.begin(), of_values.end(), 0);
        Index n_sides = n_rows[last] > 0 ? 2 : 1;
        Index wanted = std::max<Index>(most / n_sides, 1);
        bool take_all = n_filled * n_sides <= most;
        for (Index cut : bins_to_cut_after(of_values, wanted, take_all))
            for (Index side = 0; side < n_sides; ++side) {
                View<bool, 1> mask = masks[n_found];
                mask.part(0, cut + 1).fill(true);
                mask[last] = side == 1;
                feature[n_found++] = d;
            }
    }
    return {copy_of(feature.part(0, n_found)), copy_of(masks.part(0, n_found))};
}

template <typename Bin>
void add_for_bins(nb::module_& module) {
    add_kernel(module, "leaves_of_rows", &leaves_of_rows<Bin>);
    add_kernel(module, "cost_of_tree", &cost_of_tree<Bin>);
    add_kernel(module, "costs_of_rows", &costs_of_rows<Bin>);
    add_kernel(module, "splits_into_leaves", &splits_into_leaves<Bin>);
    add_kernel(module, "splits_above", &splits_above<Bin>);
    add_kernel(module, "spread_cuts", &spread_cuts<Bin>);
}

}  // namespace

void add_whole_trees(nb::module_& module) {
    add_for_bins<std::uint16_t>(module);
    add_for_bins<std::uint32_t>(module);
}
