// Tree search: histograms, the best split, and what would follow it.
#include "_kernels.hpp"

#include <numeric>

using namespace clearwood;
using namespace clearwood::search;

void add_whole_trees(nb::module_& module);

namespace {

// A tree whose nodes are boxes to choose from grows only if it loses so much less.
constexpr double SMALLEST_GAIN = 1e-9;

// Some rows of a table.
Matrix<double> take(View<const double, 2> table, View<const Index, 1> rows) {
    auto taken = Matrix<double>::empty({rows.size(), table.size(1)});
    double* into = taken.begin();
    for (Index i : rows) {
        View<const double, 1> line = table[i];
        into = std::copy(line.begin(), line.end(), into);
    }
    return taken;
}

// Add a line per row to those of bins, which is fastest of a known number of columns.
//
// column : (n_all_rows,), rows : (n_rows,), here : (n_rows, n_columns)
// sums : (n_bins, n_columns), changed in place
template <typename Bin>
void add_rows(View<const Bin, 1> column, View<const Index, 1> rows,
              View<const double, 2> here, View<double, 2> sums) {
    auto add = [&](auto n_columns) {
        for (Index j = 0; j < rows.size(); ++j)
            add_line(here[j].begin(), sums[column[rows[j]]].begin(), n_columns);
    };
    with_number(here.size(1), add);
}

// Sums of stats over some rows, per bin of every feature: (n_total, n_scores + 3).
template <typename Bin>
Matrix<double> histogram(View<const Bin, 2> columns, View<const Index, 1> start,
                         Index n_total, View<const Index, 1> rows,
                         View<const double, 2> stats) {
    Matrix<double> sums({n_total, stats.size(1)}), here = take(stats, rows);
    for (Index d = 0; d < columns.size(0); ++d)
        add_rows<Bin>(columns[d], rows, here, sums.part(start[d], n_total));
    return sums;
}

// The rows whose bins go left, and the others.
template <typename Bin>
std::tuple<Vector<Index>, Vector<Index>> partition(View<const Bin, 1> column,
                                                   View<const Index, 1> rows,
                                                   View<const bool, 1> goes_left) {
    Index n_rows = rows.size(), n_left = 0;
    // Rows that go right stand last, in reverse.
    auto both = Vector<Index>::empty({n_rows});
    // Without a branch: which way a row goes cannot be predicted.
    for (Index j = 0; j < n_rows; ++j) {
        both[n_left] = both[n_rows - 1 - j + n_left] = rows[j];
        n_left += goes_left[column[rows[j]]];
    }
    std::reverse(both.begin() + n_left, both.end());
    return {copy_of(both.part(0, n_left)), copy_of(both.part(n_left, n_rows))};
}

// Sums of stats over some rows.
Vector<double> sum_rows(View<const double, 2> stats, View<const Index, 1> rows) {
    Vector<double> sums(stats.size(1));
    for (Index i : rows) add_line(stats[i].begin(), sums.begin(), sums.size());
    return sums;
}

// Bins among the first ones that hold rows, ascending.
Vector<Index> filled_bins(View<const double, 2> sums, Index n_bins) {
    Index ones = sums.size(1) - 1, n_filled = 0;
    auto filled = Vector<Index>::empty({n_bins});
    for (Index b = 0; b < n_bins; ++b) {  // without a branch, as in partition
        filled[n_filled] = b;
        n_filled += sums(b, ones) > 0.0;
    }
    return copy_of(filled.part(0, n_filled));
}

// Some bins of a category by how much one score stands out among the first few.
Vector<Index> in_order(View<const double, 2> sums, View<const Index, 1> bins,
                       Index score, Index n_compared) {
    Index n_scores = sums.size(1) - N_EXTRA;
    Vector<double> key(sums.size(0));
    for (Index b : bins) {
        View<const double, 1> line = sums[b];
        double others = 0.0;
        for (Index c = 0; c < n_compared; ++c) others += line[c];
        double n_others = double(std::max<Index>(n_compared - 1, 1));
        key[b] = (line[score] - (others - line[score]) / n_others) / line[n_scores];
    }
    Vector<Index> order = copy_of(bins);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
        // Bins without weight, whose key is NaN, come last.
        return key[a] < key[b] || (std::isnan(key[b]) && !std::isnan(key[a]));
    });
    return order;
}

using Pair = std::array<double, 2>;

// Pairs of zeros, as many as are needed: on the stack where that is known.
inline Vector<Pair> pairs_of(Index n) { return Vector<Pair>(n); }
template <Index n>
std::array<Pair, n> pairs_of(std::integral_constant<Index, n>) {
    return {};
}

// A cut in an order of bins: what is lost, and how many bins go left.
struct Cut {
    double loss = infinity;
    Index n_left = 0;
};

// prefix_split for SQUARES, bit for bit, in less time: both sides stand next to each
// other, where processors do the same to both, and numbers of a known number of scores
// stay in registers.
template <typename Size>
Cut prefix_split_of_squares(View<const double, 2> sums, View<const Index, 1> order,
                            View<const double, 1> kept_right, const LossForm& leaf,
                            double least, Size n_scores) {
    auto both = pairs_of(n_scores);
    Pair weight = {0.0, kept_right[n_scores]};
    Pair support = {0.0, kept_right[n_scores + 1]};
    for (Index c = 0; c < n_scores; ++c) both[c][1] = kept_right[c];
    for (Index b : order) {
        const double* line = sums[b].begin();
        for (Index c = 0; c < n_scores; ++c) both[c][1] += line[c];
        weight[1] += line[n_scores];
        support[1] += line[n_scores + 1];
    }
    auto move = [](Pair& sides, double number) {
        sides[0] += number;
        sides[1] -= number;
    };
    Cut best;
    for (Index j = 0; j < order.size(); ++j) {
        const double* line = sums[order[j]].begin();
        move(weight, line[n_scores]);
        move(support, line[n_scores + 1]);
        Pair squares = {0.0, 0.0}, lowest = {infinity, infinity}, lost;
        for (Index c = 0; c < n_scores; ++c) {
            move(both[c], line[c]);
            for (int side = 0; side < 2; ++side) {
                squares[side] += both[c][side] * both[c][side];
                lowest[side] = std::min(lowest[side], both[c][side]);
            }
        }
        if (support[0] < least || support[1] < least) continue;
        for (int side = 0; side < 2; ++side) {
            lost[side] = leaf.hard * lowest[side] - leaf.soft * squares[side] / weight[side];
            lost[side] = weight[side] > 0.0 ? lost[side] : 0.0;
        }
        double loss = lost[0] + lost[1];
        // Without a branch: which cut is the best so far cannot be predicted.
        best.n_left += (j + 1 - best.n_left) & -Index(loss < best.loss);
        best.loss = std::min(best.loss, loss);
    }
    return best;
}

// The best cut in an order of bins: first bins left, all others right.
//
// kept_right : sums over bins with rows that are not in the order
Cut prefix_split(View<const double, 2> sums, View<const Index, 1> order,
                 View<const double, 1> kept_right, const LossForm& leaf, double least) {
    Index n_columns = sums.size(1), support = n_columns - 2;
    Cut best;
    if (leaf.kind == SQUARES) {
        with_number(n_columns - N_EXTRA, [&](auto n_scores) {
            best = prefix_split_of_squares(sums, order, kept_right, leaf, least,
                                           n_scores);
        });
        return best;
    }
    Vector<double> left(n_columns), right = copy_of(kept_right);
    for (Index b : order)
        for (Index c = 0; c < n_columns; ++c) right[c] += sums(b, c);
    for (Index j = 0; j < order.size(); ++j) {
        View<const double, 1> line = sums[order[j]];
        for (Index c = 0; c < n_columns; ++c) {
            left[c] += line[c];
            right[c] -= line[c];
        }
        if (left[support] >= least && right[support] >= least) {
            double loss = leaf_loss(left, leaf) + leaf_loss(right, leaf);
            if (loss < best.loss) best = {loss, j + 1};
        }
    }
    return best;
}

// Whether more rows are in the first bins of an order than in the others.
bool left_is_larger(View<const double, 2> sums, View<const Index, 1> order,
                    Index n_left) {
    double left = 0.0, right = 0.0;
    for (Index j = 0; j < order.size(); ++j)
        (j < n_left ? left : right) += sums(order[j], sums.size(1) - 1);
    return left > right;
}

// The best cut of a numeric feature, its missing values on the better side. Of cuts
// that part the rows alike, the middle one. Returns the loss; goes_left is filled.
double split_numeric(View<const double, 2> sums, const LossForm& leaf, double least,
                     View<bool, 1> goes_left) {
    Index last = sums.size(0) - 1, ones = sums.size(1) - 1;
    Vector<Index> filled = filled_bins(sums, last);
    Index n_filled = filled.size();
    auto [best, n_left] = prefix_split(sums, filled, sums[last], leaf, least);
    bool missing_left = false;
    if (sums(last, ones) > 0.0) {
        // Missing values go left with the low ones: the same from the other end.
        Vector<Index> reversed = copy_of(filled);
        std::reverse(reversed.begin(), reversed.end());
        Cut other = prefix_split(sums, reversed, sums[last], leaf, least);
        if (other.loss < best) {
            best = other.loss;
            n_left = n_filled - other.n_left;
            missing_left = true;
        }
    } else {
        missing_left = left_is_larger(sums, filled, n_left);
    }
    if (best == infinity) return best;
    Index cut = -1;
    if (n_left == n_filled)
        cut = last - 1;
    else if (n_left > 0)
        cut = (filled[n_left - 1] + filled[n_left] - 1) / 2;
    for (Index b = 0; b < last; ++b) goes_left[b] = b <= cut;
    goes_left[last] = missing_left;
    return best;
}

// The best two groups of categories among those in order of some score. Bins without
// rows go with the larger group.
double split_categories(View<const double, 2> sums, const LossForm& leaf, double least,
                        View<bool, 1> goes_left) {
    Index n_scores = sums.size(1) - N_EXTRA;
    Vector<Index> filled = filled_bins(sums, sums.size(0));
    Vector<double> nothing(sums.size(1));
    // Beside a value, its square says nothing of the order.
    Index n_compared = leaf.kind == LOG_VARIANCE ? 1 : n_scores;
    double best = infinity;
    for (Index score = 0; score < (n_compared > 2 ? n_compared : 1); ++score) {
        Vector<Index> order = in_order(sums, filled, score, n_compared);
        auto [loss, n_left] = prefix_split(sums, order, nothing, leaf, least);
        if (loss < best) {
            best = loss;
            goes_left.fill(left_is_larger(sums, order, n_left));
            for (Index j = 0; j < order.size(); ++j) goes_left[order[j]] = j < n_left;
        }
    }
    return best;
}

// The best split by one feature, of either kind.
double split_feature(View<const double, 2> sums, bool is_category, const LossForm& leaf,
                     double least, View<bool, 1> goes_left) {
    return is_category ? split_categories(sums, leaf, least, goes_left)
                       : split_numeric(sums, leaf, least, goes_left);
}

// The best splits by a histogram: (total number of bins, n_scores + 3).
Splits best_splits(View<const double, 2> sums, View<const Index, 1> start,
                   View<const Index, 1> n_bins, View<const bool, 1> is_category,
                   LossForm leaf, double least) {
    Vector<double> losses(n_bins.size());
    Vector<bool> goes_left(sums.size(0));
    for (Index d = 0; d < n_bins.size(); ++d) {
        Index stop = start[d] + n_bins[d];
        losses[d] = split_feature(sums.part(start[d], stop), is_category[d], leaf,
                                  least, goes_left.part(start[d], stop));
    }
    return {std::move(losses), std::move(goes_left)};
}

// The best splits of a node.
template <typename Bin>
Splits best_splits_of_rows(const TreeProblem<Bin>& problem, View<const Index, 1> rows) {
    return best_splits_of(problem.grid, rows, take(problem.stats, rows), problem.leaf,
                          problem.min_samples_leaf);
}

// What both sides of some splits lose, as leaves and after their best splits.
//
// problem : splits ask about bins of its grid; those that follow are sought in `ahead`
// rows : the node's
// feature : (n_splits,)
// goes_left : (n_splits, largest number of bins)
// least : least support of a leaf
//
// Returns (n_splits, 4): left leaf, right leaf, left split, right split; infinite where
// a side has too little support, a leaf's loss where it cannot be split.
template <typename Bin>
Matrix<double> look_ahead(const TreeProblem<Bin>& problem, View<const Index, 1> rows,
                          View<const Index, 1> feature, View<const bool, 2> goes_left,
                          double least) {
    auto& [columns, start, n_bins, is_category] = problem.ahead;
    View<const double, 2> stats = problem.stats;
    const LossForm& leaf = problem.leaf;
    Matrix<double> result({feature.size(), 4}, infinity);
    Vector<Index> small(rows.size());
    Matrix<double> sums = histogram(columns, start, sum(n_bins), rows, stats);
    for (Index j = 0; j < feature.size(); ++j) {
        Index d = feature[j], n_left = 0, n_small = 0;
        View<const Bin, 1> column = problem.grid.columns[d];
        View<const bool, 1> mask = goes_left[j];
        for (Index i : rows) n_left += mask[column[i]];
        // Count the side with fewer rows; the other one is the rest.
        bool few_left = 2 * n_left <= rows.size();
        for (Index i : rows)
            if (mask[column[i]] == few_left) small[n_small++] = i;
        Matrix<double> few =
            histogram(columns, start, sums.size(0), small.part(0, n_small), stats);
        auto many = Matrix<double>::empty(sums.shape());
        std::transform(sums.begin(), sums.end(), few.begin(), many.begin(),
                       std::minus<double>());
        for (Index side = 0; side < 2; ++side) {
            View<const double, 2> part = (side == 0) == few_left ? few : many;
            Vector<double> whole(stats.size(1));
            for (Index b = start[d]; b < start[d] + n_bins[d]; ++b)
                add_line(part[b].begin(), whole.begin(), whole.size());
            if (whole[whole.size() - 2] < least) break;
            double alone = leaf_loss(whole, leaf);
            auto [losses, _] =
                best_splits(part, start, n_bins, is_category, leaf, least);
            result(j, side) = alone;
            result(j, 2 + side) =
                std::min(alone, *std::min_element(losses.begin(), losses.end()));
        }
    }
    return result;
}

// The boxes of all nodes but the root of a tree, the best split first.
//
// rows : that the tree is grown on; their order is changed
// stats : (n_rows, n_scores + 3)
// order : (2 * most leaves - 1, n_features), the features in an order for each node
// n_tried : how many of them that can split the rows a node chooses from
//
// Returns (n_boxes, total number of bins).
template <typename Bin>
Matrix<bool> node_boxes(const Grid<Bin>& grid, View<Index, 1> rows,
                        View<const double, 2> stats, LossForm leaf,
                        View<const Index, 2> order, Index n_tried) {
    Index n_most = order.size(0), n_nodes = 1;
    Matrix<bool> boxes({n_most, sum(grid.n_bins)}, true);
    Vector<Index> begin(n_most), end(n_most, rows.size()), feature(n_most);
    Vector<double> gain(n_most, -infinity);
    Matrix<bool> masks({n_most, grid.most_bins()});
    Matrix<double> sums({grid.most_bins(), stats.size(1)});
    Vector<bool> mask(grid.most_bins());
    for (Index node = 0; node < n_most; ++node) {
        if (node == n_nodes) {  // split the leaf with most to gain
            Index parent = argmax(gain.part(0, n_nodes));
            if (gain[parent] <= SMALLEST_GAIN) break;
            gain[parent] = -infinity;
            Index d = feature[parent];
            View<const bool, 1> goes_left = masks[parent];
            View<Index, 1> own = rows.part(begin[parent], end[parent]);
            auto [left, right] = partition<Bin>(grid.columns[d], own, goes_left);
            std::copy(right.begin(), right.end(),
                      std::copy(left.begin(), left.end(), own.begin()));
            for (Index child : {node, node + 1}) {
                View<bool, 1> box = boxes[child], part = grid.part(box, d);
                std::copy_n(boxes[parent].begin(), box.size(), box.begin());
                for (Index b = 0; b < part.size(); ++b)
                    part[b] &= goes_left[b] == (child == node);
            }
            begin[node] = begin[parent];
            end[node] = begin[node + 1] = begin[parent] + left.size();
            end[node + 1] = end[parent];
            n_nodes += 2;
            if (n_nodes == n_most) break;  // the last two are not split
        }
        View<const Index, 1> own = rows.part(begin[node], end[node]);
        Matrix<double> here = take(stats, own);
        double least = infinity;
        Index n_able = 0;
        for (Index d : order[node]) {
            View<double, 2> part = sums.part(0, grid.n_bins[d]);
            part.fill(0.0);
            add_rows<Bin>(grid.columns[d], own, here, part);
            double loss = split_feature(part, grid.is_category[d], leaf, 1.0,
                                        mask.part(0, grid.n_bins[d]));
            n_able += loss < infinity;
            if (loss < least) {
                least = loss;
                feature[node] = d;
                std::copy_n(mask.begin(), grid.n_bins[d], masks[node].begin());
            }
            if (n_able == n_tried) break;
        }
        if (n_able > 0) gain[node] = leaf_loss(sum_rows(stats, own), leaf) - least;
    }
    return copy_of(boxes.part(1, n_nodes));
}

template <typename Bin>
void add_for_bins(nb::module_& module) {
    add_kernel(module, "add_rows", &add_rows<Bin>);
    add_kernel(module, "histogram", &histogram<Bin>);
    add_kernel(module, "partition", &partition<Bin>);
    add_kernel(module, "best_splits_of_rows", &best_splits_of_rows<Bin>);
    add_kernel(module, "look_ahead", &look_ahead<Bin>);
    add_kernel(module, "node_boxes", &node_boxes<Bin>);
}

}  // namespace

// Feature by feature: a histogram of hundreds of scores fits no cache.
template <typename Bin>
Splits clearwood::search::best_splits_of(const Grid<Bin>& grid,
                                         View<const Index, 1> rows,
                                         View<const double, 2> stats,
                                         const LossForm& leaf, double least) {
    Vector<double> losses(grid.n_features());
    Vector<bool> goes_left(sum(grid.n_bins));
    Matrix<double> sums({grid.most_bins(), stats.size(1)});
    for (Index d = 0; d < grid.n_features(); ++d) {
        View<const Bin, 1> column = grid.columns[d];
        View<double, 2> part = sums.part(0, grid.n_bins[d]);
        add_rows<Bin>(column, rows, stats, part);
        losses[d] = split_feature(part, grid.is_category[d], leaf, least,
                                  grid.part(goes_left, d));
        if (rows.size() > part.size(0))
            part.fill(0.0);
        else
            for (Index i : rows) part[column[i]].fill(0.0);
    }
    return {std::move(losses), std::move(goes_left)};
}

template Splits clearwood::search::best_splits_of(const Grid<std::uint16_t>&,
                                                  View<const Index, 1>,
                                                  View<const double, 2>,
                                                  const LossForm&, double);
template Splits clearwood::search::best_splits_of(const Grid<std::uint32_t>&,
                                                  View<const Index, 1>,
                                                  View<const double, 2>,
                                                  const LossForm&, double);

void add_search_trees(nb::module_& module) {
    module.attr("N_EXTRA") = N_EXTRA;
    add_for_bins<std::uint16_t>(module);
    add_for_bins<std::uint32_t>(module);
    add_kernel(module, "sum_rows", &sum_rows);
    add_kernel(module, "leaf_loss", &leaf_loss);
    add_kernel(module, "best_splits", &best_splits);
    add_whole_trees(module);
}
