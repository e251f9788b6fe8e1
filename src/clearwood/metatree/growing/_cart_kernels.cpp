// Where the trees that scikit-learn grows on ranks cut.
#include "../../_native/array.hpp"

using namespace clearwood;

namespace {

// The ranks next to the cut of every node, among the rows that come there.
//
// columns : ranks, or NaN, of shape (n_rows, n_features)
// rows : those on which the tree was grown
// left, right, feature, threshold, missing_left : of every node
//
// Returns the ranks below and above, -1 where there is none.
std::tuple<Vector<Index>, Vector<Index>> neighbours(
    View<const float, 2> columns, View<const Index, 1> rows, View<const Index, 1> left,
    View<const Index, 1> right, View<const Index, 1> feature,
    View<const double, 1> threshold, View<const bool, 1> missing_left) {
    Vector<Index> below(left.size(), -1), above(left.size(), -1);
    for (Index row : rows) {
        Index node = 0;
        while (left[node] >= 0) {
            double rank = columns(row, feature[node]);
            if (std::isnan(rank)) {
                node = missing_left[node] ? left[node] : right[node];
            } else if (rank <= threshold[node]) {
                below[node] = std::max(below[node], Index(rank));
                node = left[node];
            } else {
                if (above[node] < 0 || Index(rank) < above[node])
                    above[node] = Index(rank);
                node = right[node];
            }
        }
    }
    return {std::move(below), std::move(above)};
}

}  // namespace

void add_metatree_cart(nb::module_& module) {
    add_kernel(module, "neighbours", &neighbours);
}
