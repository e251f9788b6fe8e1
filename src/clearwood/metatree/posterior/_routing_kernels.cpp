// How rows find their way down a tree.
#include "../../_native/array.hpp"

using namespace clearwood;

namespace {

using Nodes = View<const std::int32_t, 1>;  // a number of a node (or child) per node

// Number of questions above every node.
Vector<std::int32_t> node_depths(Nodes parent) {
    Vector<std::int32_t> depth(parent.size());
    for (Index node = 1; node < parent.size(); ++node)
        depth[node] = depth[parent[node]] + 1;
    return depth;
}

// At most the largest; a negative code is a very large one here.
template <typename Code>
Index bounded(Code code, std::uint64_t largest) {
    return Index(std::min(std::uint64_t(code), largest));
}

// Codes in a small type; those that do not fit become its largest number.
//
// Rows of 64-bit codes are read from memory once, in order, and then sent down from the
// cache, which is several times as fast.
template <typename Small>
void narrow(View<const Index, 1> codes, View<Small, 1> narrowed) {
    for (Index i = 0; i < codes.size(); ++i)
        narrowed[i] = Small(bounded(codes[i], std::numeric_limits<Small>::max()));
}

// What routing reads of every node, side by side, and where each answer leads.
//
// ways : (n_nodes, 4), feature, first place in leads_to, number of codes, and last code
//        that goes to child 0, which is -1 at nodes with a place for every code
// leads_to : the next node, or the node itself to end there. Nodes with a table have a
//            place per code, and one for codes outside; the others have four: child 0,
//            child 1, missing, outside. Leaves have one.
// has_cuts : whether any node has no table
// least_depth, depth : smallest and largest depth of a leaf
struct Routing {
    View<const std::int32_t, 2> ways;
    View<const std::int32_t, 1> leads_to;
    bool has_cuts;
    Index least_depth, depth;
    auto fields() { return std::tie(ways, leads_to, has_cuts, least_depth, depth); }
};

// ways and leads_to of a Routing. The arrays of the nodes are those of a Structure.
std::tuple<Matrix<std::int32_t>, Vector<std::int32_t>> make_ways(
    Nodes first_child, Nodes feature, Nodes cut_code, Nodes missing_child,
    View<const Index, 1> table_start, View<const std::int32_t, 1> goes_to,
    View<const Index, 1> n_codes) {
    Index n_nodes = first_child.size();
    auto n_places = [&](Index node) {
        if (first_child[node] < 0) return Index(1);
        return table_start[node] < 0 ? Index(4) : n_codes[feature[node]] + 1;
    };
    Index size = 0;
    for (Index node = 0; node < n_nodes; ++node) size += n_places(node);
    Matrix<std::int32_t> ways({n_nodes, 4});
    Vector<std::int32_t> leads_to(size);
    Index place = 0;
    for (Index node = 0; node < n_nodes; ++node) {
        std::int32_t first = first_child[node];
        Index start = table_start[node], n = 0;
        ways(node, 1) = std::int32_t(place);
        ways(node, 3) = -1;
        if (first >= 0) {
            n = n_codes[feature[node]];
            ways(node, 0) = feature[node];
            ways(node, 2) = std::int32_t(n);
            if (start < 0) ways(node, 3) = cut_code[node];
        }
        for (Index j = 0; j < n_places(node); ++j) {
            std::int32_t child = -1;
            if (first >= 0 && start >= 0 && j < n)
                child = goes_to[start + j];
            else if (first >= 0 && start < 0 && j < 3)
                child = j < 2 ? std::int32_t(j) : missing_child[node];
            leads_to[place++] = child >= 0 ? first + child : std::int32_t(node);
        }
    }
    return {std::move(ways), std::move(leads_to)};
}

// Write the node at which every row ends.
//
// While no row can have reached a leaf, all go down together, level by level: with
// nothing to guess, that takes half the time. The rest of the way each goes alone.
//
// codes : (n_rows, n_features)
template <typename Code>
void find_ends(View<const Code, 2> codes, Routing routing, View<std::int32_t, 1> ends) {
    const auto& [ways, leads_to, has_cuts, least_depth, depth] = routing;
    auto code_at = [&](Index i, Index node) {
        return bounded(codes(i, ways(node, 0)), std::uint64_t(ways(node, 2)));
    };
    auto by_table = [&](Index i, Index node) {
        return leads_to[ways(node, 1) + code_at(i, node)];
    };
    auto next = [&](Index i, Index node) {
        Index code = code_at(i, node), n = ways(node, 2), cut = ways(node, 3);
        Index place = Index(code > cut) + Index(code >= n - 1) + Index(code >= n);
        return leads_to[ways(node, 1) + (cut < 0 ? code : place)];
    };
    ends.fill(0);
    for (Index level = 0; level < least_depth; ++level) {
        if (has_cuts)
            for (Index i = 0; i < ends.size(); ++i) ends[i] = next(i, ends[i]);
        else
            for (Index i = 0; i < ends.size(); ++i) ends[i] = by_table(i, ends[i]);
    }
    if (least_depth == depth) return;
    for (Index i = 0; i < ends.size(); ++i) {
        std::int32_t node = -1, following = ends[i];
        while (following != node) {
            node = following;
            following = next(i, node);
        }
        ends[i] = node;
    }
}

// Write the node at which every row ends, where rows take few forms.
//
// codes : (n_rows, n_features)
// n_forms : codes of every feature and one for all outside
// end_of_form : ends of all combinations, those of the last feature side by side
template <typename Code>
void look_up_ends(View<const Code, 2> codes, View<const std::uint64_t, 1> n_forms,
                  View<const std::int32_t, 1> end_of_form, View<std::int32_t, 1> ends) {
    for (Index i = 0; i < ends.size(); ++i) {
        Index form = 0;
        for (Index d = 0; d < n_forms.size(); ++d)
            form = form * Index(n_forms[d]) + bounded(codes(i, d), n_forms[d] - 1);
        ends[i] = end_of_form[form];
    }
}

template <typename... Code>
void add_ways_of(nb::module_& module) {
    (add_kernel(module, "find_ends", &find_ends<Code>), ...);
    (add_kernel(module, "look_up_ends", &look_up_ends<Code>), ...);
}

}  // namespace

void add_metatree_routing(nb::module_& module) {
    add_kernel(module, "node_depths", &node_depths);
    add_kernel(module, "narrow", &narrow<std::uint8_t>);
    add_kernel(module, "narrow", &narrow<std::uint16_t>);
    add_kernel(module, "make_ways", &make_ways);
    add_ways_of<std::uint8_t, std::uint16_t, std::int32_t, Index>(module);
}
