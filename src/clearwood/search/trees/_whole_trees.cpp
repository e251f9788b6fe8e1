// Whole trees: which leaf each row comes to, and at what cost.
#include "_kernels.hpp"

using namespace clearwood;
using namespace clearwood::search;

namespace {

// Python's FlatTree: each node stands before its children, the root first.
struct FlatTree {
    View<const Index, 1> feature;   // that is asked about; -1 in a leaf
    View<const bool, 2> goes_left;  // (n_nodes, largest number of bins)
    View<const Index, 2> children;  // (n_nodes, 2)

    auto fields() { return std::tie(feature, goes_left, children); }

    Index n_nodes() const { return feature.size(); }
};

// The leaf that each of some rows comes to.
template <typename Bin>
Vector<Index> nodes_of_rows(const Grid<Bin>& grid, View<const Index, 1> rows,
                            const FlatTree& tree) {
    Vector<Index> found(rows.size());
    for (Index j = 0; j < rows.size(); ++j) {
        Index node = 0;
        while (tree.feature[node] >= 0) {
            Bin bin = grid.columns(tree.feature[node], rows[j]);
            node = tree.children(node, !tree.goes_left(node, bin));
        }
        found[j] = node;
    }
    return found;
}

// Loss and literals of the leaves of a tree; infinite with too little support.
//
// rows : that come to its root
// box, literals_of_box : the root's
template <typename Bin>
double cost_of_tree(const TreeProblem<Bin>& problem, View<const Index, 1> rows,
                    View<const bool, 1> box, Index literals_of_box,
                    const FlatTree& tree) {
    const Grid<Bin>& grid = problem.grid;
    Index n_nodes = tree.n_nodes(), n_columns = problem.stats.size(1);
    Matrix<double> sums({n_nodes, n_columns});
    Vector<Index> at = nodes_of_rows(grid, rows, tree);
    for (Index j = 0; j < rows.size(); ++j)
        add_line(problem.stats[rows[j]].begin(), sums[at[j]].begin(), n_columns);
    Matrix<bool> boxes({n_nodes, box.size()});
    std::copy(box.begin(), box.end(), boxes.begin());
    Vector<Index> literals(n_nodes);
    literals[0] = literals_of_box;
    double total = 0.0;
    for (Index node = 0; node < n_nodes; ++node) {
        Index d = tree.feature[node];
        if (d < 0) {
            if (sums(node, n_columns - 2) < problem.min_rows) return infinity;
            total += leaf_loss(sums[node], problem.leaf) +
                     problem.literal * double(literals[node]);
            continue;
        }
        auto literals_here = [&](View<const bool, 1> part) {
            return part_literals(part, grid.part(problem.seen, d), grid.is_category[d]);
        };
        Index before = literals_here(grid.part(boxes[node], d));
        for (Index side = 0; side < 2; ++side) {
            Index child = tree.children(node, side);
            std::copy(boxes[node].begin(), boxes[node].end(), boxes[child].begin());
            View<bool, 1> below = grid.part(boxes[child], d);
            for (Index b = 0; b < below.size(); ++b)
                below[b] &= tree.goes_left(node, b) == (side == 0);
            literals[child] = literals[node] - before + literals_here(below);
        }
    }
    return total;
}

// What each of some rows would cost in a tree that says what it says.
//
// sums : those of stats over the rows of every node, (n_nodes, n_scores + 3), by which
//        its leaves say what they say
template <typename Bin>
Vector<double> costs_of_rows(const TreeProblem<Bin>& problem, View<const Index, 1> rows,
                             View<const double, 2> sums, const FlatTree& tree) {
    const LeafLoss& leaf = problem.leaf;
    Index n_nodes = tree.n_nodes(), n_scores = problem.stats.size(1) - N_EXTRA;
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
    Vector<double> costs(rows.size());
    Vector<Index> at = nodes_of_rows(problem.grid, rows, tree);
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

// Stats (n_all_rows, 2 + 3) for sending each of some rows to the side where it costs
// less; of other rows zeros.
//
// left, right : (n_rows,), what each costs there
Matrix<double> stats_of_sides(View<const Index, 1> rows, View<const double, 1> left,
                              View<const double, 1> right,
                              View<const double, 2> stats) {
    Matrix<double> found({stats.size(0), 2 + N_EXTRA});
    for (Index j = 0; j < rows.size(); ++j) {
        double support = stats(rows[j], stats.size(1) - 2);
        std::array<double, 2 + N_EXTRA> line = {left[j], right[j], 1.0, support, 1.0};
        std::copy(line.begin(), line.end(), found[rows[j]].begin());
    }
    return found;
}

// Whether the rows that go left would cost less on the right.
template <typename Bin>
bool is_turned(View<const Bin, 1> column, View<const Index, 1> rows,
               View<const bool, 1> goes_left, View<const double, 1> left,
               View<const double, 1> right) {
    double cost = 0.0;
    for (Index j = 0; j < rows.size(); ++j)
        cost += number_if(goes_left[column[rows[j]]], left[j] - right[j]);
    return cost > 0.0;
}

template <typename Bin>
void add_for_bins(nb::module_& module) {
    add_kernel(module, "cost_of_tree", &cost_of_tree<Bin>);
    add_kernel(module, "costs_of_rows", &costs_of_rows<Bin>);
    add_kernel(module, "is_turned", &is_turned<Bin>);
}

}  // namespace

void add_whole_trees(nb::module_& module) {
    add_for_bins<std::uint16_t>(module);
    add_for_bins<std::uint32_t>(module);
    add_kernel(module, "stats_of_sides", &stats_of_sides);
}
