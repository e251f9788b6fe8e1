// The hot loops of this room: which leaves rows reach, and what they add up to.
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

// Whether a value goes left at a node: what every tree asks, and nothing else.
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
// rows go down a tree together, level by level, and nothing in these loops has to be
// guessed, which makes them two to three times as fast as one row after the other. In a
// nearly full tree they all go to the end (a leaf is its own child); in any other only
// the rows still on their way take part in a level.
//
// X : encoded rows: values, category codes, NaN, negative for unseen
// levels : depth of a tree that is nearly full, 0 of any other
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
    add_kernel(module, "node_depths", &node_depths);
    add_kernel(module, "log_float32", &log_float32);
}
