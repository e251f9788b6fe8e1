// From the trees of ensembles to structures.
#include "../../_native/array.hpp"

using namespace clearwood;

namespace {

using Nodes = View<const std::int32_t, 1>;

// Nodes of one tree in breadth-first order, and each one's parent in that order.
//
// left, right : children, which are counted from -root; negative at leaves
std::tuple<Vector<std::int32_t>, Vector<std::int32_t>> breadth_first(
    Nodes left, Nodes right, std::int32_t root) {
    Vector<std::int32_t> order(left.size()), parent(left.size(), -1);
    Index n = 1;
    for (Index i = 0; i < left.size(); ++i) {
        Index node = order[i];
        if (left[node] < 0) continue;
        for (std::int32_t child : {left[node], right[node]}) {
            order[n] = child - root;
            parent[n++] = std::int32_t(i);
        }
    }
    return {std::move(order), std::move(parent)};
}

// Where cuts stand among the sorted cuts of their features; -1 where they do not.
//
// Those of feature d are cuts[start[d]] up to, and without, cuts[start[d + 1]].
Vector<std::int32_t> places_of_cuts(View<const double, 1> cuts,
                                    View<const Index, 1> start,
                                    View<const std::int32_t, 1> feature,
                                    View<const double, 1> cut) {
    Vector<std::int32_t> place(cut.size());
    for (Index i = 0; i < cut.size(); ++i) {
        auto its = cuts.part(start[feature[i]], start[feature[i] + 1]);
        auto found = std::lower_bound(its.begin(), its.end(), cut[i]);
        bool known = found != its.end() && *found == cut[i];
        place[i] = known ? std::int32_t(found - its.begin()) : -1;
    }
    return place;
}

}  // namespace

void add_metatree_ensembles(nb::module_& module) {
    add_kernel(module, "breadth_first", &breadth_first);
    add_kernel(module, "places_of_cuts", &places_of_cuts);
}
