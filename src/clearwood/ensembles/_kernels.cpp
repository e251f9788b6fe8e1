// The hot loops of ensembles: which leaves rows reach, and the sums of their values.
#include <numeric>

#include "../_native/array.hpp"

using namespace clearwood;

namespace {

// The nodes of all trees; see TreeEnsemble. Both children of a leaf are itself.
struct Nodes {
    View<const std::int32_t, 1> feature;
    View<const double, 1> cut;
    View<const std::int32_t, 2> children;
    View<const bool, 1> missing_left, unseen_left;
    View<const std::int32_t, 1> category_set;
    View<const std::int64_t, 1> category_offsets;
    View<const bool, 1> categories_left;

    auto fields() {
        return std::tie(feature, cut, children, missing_left, unseen_left, category_set,
                        category_offsets, categories_left);
    }
};

// Whether a value goes left at a node: the split alone.
inline bool goes_left(double x, Index node, const Nodes& nodes) {
    if (nodes.category_set[node] < 0)
        // Without a branch: where x is NaN, x <= cut is false.
        return (x <= nodes.cut[node]) | (nodes.missing_left[node] & (x != x));
    if (x != x) return nodes.missing_left[node];
    if (x < 0) return nodes.unseen_left[node];
    Index first = nodes.category_offsets[nodes.category_set[node]];
    return nodes.categories_left[first + Index(x)];
}

// Position of the leaf that every row reaches in every tree, (n_trees, n_rows).
//
// Trees run in the outer loop, so that the nodes of one tree stay in the cache. All
// rows go down a tree together, level by level, in loops without branches to predict,
// which makes them two to three times as fast as one row after the other. In a
// nearly full tree they all go to the end (a leaf is its own child); in any other only
// the rows that have not reached a leaf are processed in a level.
//
// X : encoded rows: values, category codes, NaN, negative for unseen
// levels : depth of a tree that is nearly full, 0 for any other
Matrix<std::int32_t> find_leaves(View<const double, 2> X, const Nodes& nodes,
                                 View<const std::int32_t, 1> roots,
                                 View<const std::int32_t, 1> levels) {
    Index n_rows = X.size(0);
    Matrix<std::int32_t> leaves({roots.size(), n_rows});
    Vector<std::int32_t> on_way(n_rows);
    for (Index t = 0; t < roots.size(); ++t) {
        View<std::int32_t, 1> reached = leaves[t];
        reached.fill(roots[t]);
        for (Index level = 0; level < levels[t]; ++level)
            for (Index i = 0; i < n_rows; ++i) {
                Index node = reached[i];
                double x = X(i, std::max(nodes.feature[node], 0));
                reached[i] = nodes.children(node, 1 - goes_left(x, node, nodes));
            }
        if (levels[t] > 0 || nodes.feature[roots[t]] < 0) continue;
        for (Index i = 0; i < n_rows; ++i) on_way[i] = i;
        Index n_on_way = n_rows;
        while (n_on_way > 0) {
            Index n_left = 0;
            for (Index j = 0; j < n_on_way; ++j) {
                Index i = on_way[j], node = reached[i];
                double x = X(i, nodes.feature[node]);
                node = nodes.children(node, 1 - goes_left(x, node, nodes));
                reached[i] = node;
                on_way[n_left] = i;
                n_left += nodes.feature[node] >= 0;
            }
            n_on_way = n_left;
        }
    }
    return leaves;
}

// Add the leaf values of one tree after the other to the raw scores, in place.
//
// leaves : node positions, from find_leaves
// value : leaf values (n_nodes, width), in the type of raw
// output : first output that each tree adds to
// raw : (n_rows, n_outputs)
template <typename T>
void add_leaves(View<const std::int32_t, 2> leaves, View<const T, 2> value,
                View<const std::int32_t, 1> output, View<T, 2> raw) {
    for (Index t = 0; t < leaves.size(0); ++t)
        for (Index i = 0; i < leaves.size(1); ++i)
            for (Index j = 0; j < value.size(1); ++j)
                raw(i, output[t] + j) += value(leaves(t, i), j);
}

// Thresholds of each feature, and one node for each distinct categorical split, which
// convert cells into ranks; see ranks.py.
struct Ranking {
    View<const std::int32_t, 1> feature;
    View<const std::int64_t, 1> offsets;
    View<const double, 1> cuts;
    View<const std::int32_t, 1> set_nodes;

    auto fields() { return std::tie(feature, offsets, cuts, set_nodes); }
};

// Trees that compare ranks; a right child follows its sibling, and a leaf is its own
// child.
template <typename Rank>
struct RankedTrees {
    View<const std::uint16_t, 1> column;
    View<const Rank, 1> rank;
    View<const std::int32_t, 1> child, roots, levels;
    View<const bool, 1> symmetric;

    auto fields() { return std::tie(column, rank, child, roots, levels, symmetric); }
};

constexpr Index BLOCK = 512;
using Reached = std::array<std::int32_t, BLOCK>;

// Replace cells by their ranks: how many thresholds of their feature are smaller.
//
// A missing value has all thresholds below it in column 2j of feature j, so that it goes
// right everywhere, and none in column 2j + 1. After them a column for each distinct
// categorical split: 0 goes left, 1 right.
//
// cells : (n_columns, BLOCK)
template <typename Rank>
void rank_cells(View<const double, 2> X, const Nodes& nodes, const Ranking& ranking,
                View<Rank, 2> cells) {
    Index n_rows = X.size(0), n_numeric = ranking.feature.size();
    std::array<double, BLOCK> x;
    Reached below;
    for (Index j = 0; j < n_numeric; ++j) {
        View<const double, 1> cuts =
            ranking.cuts.part(ranking.offsets[j], ranking.offsets[j + 1]);
        for (Index i = 0; i < n_rows; ++i) x[i] = X(i, ranking.feature[j]);
        below.fill(0);
        // All rows together: these loops have no branches to predict.
        Index n_left = cuts.size();
        for (; n_left > 1; n_left -= n_left / 2)
            for (Index i = 0; i < n_rows; ++i)
                below[i] += (cuts[below[i] + n_left / 2 - 1] < x[i]) * (n_left / 2);
        for (Index i = 0; i < n_rows; ++i) {
            Index rank = below[i] + (cuts[below[i]] < x[i]);
            cells(2 * j, i) = x[i] != x[i] ? cuts.size() : rank;
            cells(2 * j + 1, i) = rank;
        }
    }
    for (Index s = 0; s < ranking.set_nodes.size(); ++s) {
        Index node = ranking.set_nodes[s], d = nodes.feature[node];
        for (Index i = 0; i < n_rows; ++i)
            cells(2 * n_numeric + s, i) = !goes_left(X(i, d), node, nodes);
    }
}

// The leaves of a symmetric tree, which has one split per level: the sides of a row are
// the bits of a number.
template <typename Rank>
void down_symmetric(View<const Rank, 2> cells, Index n_rows,
                    const RankedTrees<Rank>& trees, Index t, Reached& reached) {
    constexpr Index AT_ONCE = 32;  // stay in registers from level to level
    for (Index first = 0; first < n_rows; first += AT_ONCE) {
        std::array<std::uint16_t, AT_ONCE> answers{};
        Index node = trees.roots[t];
        for (; trees.child[node] != node; node = trees.child[node]) {
            const Rank* ranks = &cells(trees.column[node], first);
            Rank rank = trees.rank[node];
            for (Index i = 0; i < AT_ONCE; ++i)
                answers[i] = 2 * answers[i] + (ranks[i] > rank);
        }
        for (Index i = 0; i < AT_ONCE; ++i) reached[first + i] = node + answers[i];
    }
}

// The leaves of any other tree, as by find_leaves.
template <typename Rank>
void down(View<const Rank, 2> cells, Index n_rows, const RankedTrees<Rank>& trees, Index t,
          Reached& reached) {
    auto next = [&](Index node, Index i) {
        return trees.child[node] + (cells(trees.column[node], i) > trees.rank[node]);
    };
    reached.fill(trees.roots[t]);
    for (Index level = 0; level < trees.levels[t]; ++level)
        for (Index i = 0; i < n_rows; ++i) reached[i] = next(reached[i], i);
    if (trees.levels[t] > 0 || trees.child[trees.roots[t]] == trees.roots[t]) return;
    std::array<std::int32_t, BLOCK> on_way;
    std::iota(on_way.begin(), on_way.end(), 0);
    while (n_rows > 0) {
        Index n_left = 0;
        for (Index j = 0; j < n_rows; ++j) {
            Index i = on_way[j];
            Index node = reached[i] = next(reached[i], i);
            on_way[n_left] = i;
            n_left += trees.child[node] != node;
        }
        n_rows = n_left;
    }
}

// Add the values of one tree after the other to the raw scores, in place.
//
// value : leaf values in the order of the trees' nodes, in the type of raw
// output : first output that each tree adds to
// raw : (n_rows, n_outputs)
template <typename Rank, typename T>
void add_scores(View<const double, 2> X, const Nodes& nodes, const Ranking& ranking,
                const RankedTrees<Rank>& trees, View<const T, 2> value,
                View<const std::int32_t, 1> output, View<T, 2> raw) {
    Index n_columns = 2 * ranking.feature.size() + ranking.set_nodes.size();
    Matrix<Rank> cells({std::max<Index>(n_columns, 1), BLOCK});
    Reached reached;
    for (Index first = 0; first < X.size(0); first += BLOCK) {
        Index n_rows = std::min(BLOCK, X.size(0) - first);
        rank_cells<Rank>(X.part(first, first + n_rows), nodes, ranking, cells);
        for (Index t = 0; t < trees.roots.size(); ++t) {
            if (trees.symmetric[t])
                down_symmetric<Rank>(cells, n_rows, trees, t, reached);
            else
                down<Rank>(cells, n_rows, trees, t, reached);
            for (Index j = 0; j < value.size(1); ++j) {
                T* score = &raw(first, output[t] + j);
                const T* values = &value(0, j);
                for (Index i = 0; i < n_rows; ++i)
                    score[i * raw.size(1)] += values[reached[i] * value.size(1)];
            }
        }
    }
}

// Depth of every node below its root; children come after their parents.
Vector<std::int32_t> node_depths(View<const std::int32_t, 1> feature,
                                 View<const std::int32_t, 1> left,
                                 View<const std::int32_t, 1> right) {
    Vector<std::int32_t> depths(feature.size());
    for (Index node = 0; node < feature.size(); ++node)
        if (feature[node] >= 0)
            depths[left[node]] = depths[right[node]] = depths[node] + 1;
    return depths;
}

// Nodes in level order, tree by tree.
Vector<std::int32_t> level_by_level(View<const std::int32_t, 1> left,
                                    View<const std::int32_t, 1> right,
                                    View<const std::int32_t, 1> roots) {
    Vector<std::int32_t> order(left.size());
    Index n_found = 0, n_read = 0;
    for (std::int32_t root : roots) {
        order[n_found++] = root;
        for (; n_read < n_found; ++n_read) {
            Index node = order[n_read];
            if (left[node] < 0) continue;
            order[n_found++] = left[node];
            order[n_found++] = right[node];
        }
    }
    return order;
}

// Logarithm of one float32 number as the C library computes it, in float32.
//
// NumPy has its own, and rounding a float64 logarithm gives another last bit in one of
// a hundred cases.
float log_float32(float x) { return std::log(x); }

}  // namespace

void add_ensembles(nb::module_& module) {
    add_kernel(module, "find_leaves", &find_leaves);
    add_kernel(module, "add_leaves", &add_leaves<float>);
    add_kernel(module, "add_leaves", &add_leaves<double>);
    add_kernel(module, "add_scores", &add_scores<std::uint8_t, float>);
    add_kernel(module, "add_scores", &add_scores<std::uint8_t, double>);
    add_kernel(module, "add_scores", &add_scores<std::uint16_t, float>);
    add_kernel(module, "add_scores", &add_scores<std::uint16_t, double>);
    add_kernel(module, "node_depths", &node_depths);
    add_kernel(module, "level_by_level", &level_by_level);
    add_kernel(module, "log_float32", &log_float32);
}
