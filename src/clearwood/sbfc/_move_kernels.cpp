// The moves of the thesis (2.3.2): Switch Trees, Reassign Subtree, Pivot; and exchanges
// of edges, which let any feature of the subtree be the one that gets a parent.
#include "_kernels.hpp"

#include <vector>

using namespace clearwood;
using namespace clearwood::sbfc;

namespace {

// Edges of a group, as a sparse table whose rows begin with the heaviest edge.
struct EdgeTable {
    View<const Index, 1> start;       // of the rows
    View<const std::int32_t, 1> end;  // columns
    View<const double, 1> log_weight;

    auto fields() { return std::tie(start, end, log_weight); }

    // Log weight of an edge; minus infinity for one that was left out.
    double weight_of(Index j, Index u) const {
        const std::int32_t *last = end.begin() + start[j + 1];
        const std::int32_t *place =
            std::find(end.begin() + start[j], last, std::int32_t(u));
        return place == last ? -infinity : log_weight[place - end.begin()];
    }
};

// A table for noise and one for signal.
struct EdgeTables {
    EdgeTable noise, signal;

    auto fields() { return std::tie(noise, signal); }
    const EdgeTable& operator[](bool group) const { return group ? signal : noise; }
};

// Of nodes in both groups.
using Weights = View<const double, 2>;

struct Forest {
    Vector<Index> up, down, before, after;  // parent, first child, siblings; -1: none
    Vector<Index> roots, place;             // where each of them stands there
    Index n_roots = 0;
    Matrix<double> edge;  // log weights of the edge to the parent; 0 at roots

    explicit Forest(Index d)
        : up(d, -1), down(d, -1), before(d, -1), after(d, -1), roots(d), place(d),
          edge({2, d}) {}

    void add_root(Index j) {
        roots[n_roots] = j;
        place[j] = n_roots++;
    }

    // Let two roots change their places.
    void swap_roots(Index i, Index k) {
        std::swap(roots[i], roots[k]);
        place[roots[i]] = i;
        place[roots[k]] = k;
    }

    // Make a root the first child of a node.
    void hang(Index j, Index u) {
        up[j] = u;
        before[j] = -1;
        after[j] = down[u];
        if (down[u] >= 0) before[down[u]] = j;
        down[u] = j;
    }

    // The same, by edges of these weights.
    void hang_by(Index j, Index u, const EdgeTables& edges) {
        hang(j, u);
        for (bool group : {false, true}) edge(group, j) = edges[group].weight_of(j, u);
    }

    // Make a child a root.
    void take_off(Index j) {
        if (before[j] >= 0)
            after[before[j]] = after[j];
        else
            down[up[j]] = after[j];
        if (after[j] >= 0) before[after[j]] = before[j];
        up[j] = before[j] = after[j] = -1;
    }

    // A node and all below it, written into an array; the part that they take.
    View<Index, 1> subtree(Index j, View<Index, 1> found) const {
        found[0] = j;
        Index n = 1;
        for (Index done = 0; done < n; ++done)
            for (Index child = down[found[done]]; child >= 0; child = after[child])
                found[n++] = child;
        return found.part(0, n);
    }

    // The root of a node's tree.
    Index root_of(Index j) const {
        while (up[j] >= 0) j = up[j];
        return j;
    }

    // Make a node the root of its tree.
    void pivot(Index j) {
        Index old = root_of(j), above = up[j];
        if (above < 0) return;
        roots[place[old]] = j;
        place[j] = place[old];
        std::array<double, 2> worth{edge(0, j), edge(1, j)};
        take_off(j);
        edge(0, j) = edge(1, j) = 0.0;
        while (above >= 0) {  // each node on the way up goes below the one before
            Index higher = up[above];
            if (higher >= 0) take_off(above);
            hang(above, j);
            for (int group : {0, 1}) std::swap(edge(group, above), worth[group]);
            j = above;
            above = higher;
        }
    }
};

// Propose the other group for some trees, one by one (Metropolis). Returns the share of
// them that has switched; nodes is scratch.
double switch_trees(View<bool, 1> signal, Forest& forest, Weights alone, Index most,
                    Random random, View<Index, 1> nodes) {
    View<const double, 2> edge = forest.edge;
    Index accepted = 0, n_tried = std::min(most, forest.n_roots);
    for (Index i = 0; i < n_tried; ++i) {
        forest.swap_roots(i, i + random.below(forest.n_roots - i));
        Index root = forest.roots[i];
        View<const Index, 1> tree = forest.subtree(root, nodes);
        bool here = signal[root];
        double log_ratio = 0.0;
        for (Index u : tree) {
            log_ratio += alone(!here, u) - alone(here, u);
            log_ratio += edge(!here, u) - edge(here, u);
        }
        if (std::log1p(-random.uniform()) < log_ratio) {
            for (Index u : tree) signal[u] = !here;
            ++accepted;
        }
    }
    return double(accepted) / double(n_tried);
}

// Places this much less likely than another are left out.
constexpr double NEVER_TAKEN = 40.0;

// Places for a subtree: which of its nodes gets a parent, and that, or -1 and -2 for none
// in the noise and in the signal; and log weights of the whole graph with it there.
struct Places {
    std::vector<Index> end, target;
    std::vector<double> log_share;
    Vector<bool> below;  // scratch: false for all nodes

    explicit Places(Index d) : below(d) {}

    void add(Index u, Index v, double log_share_of_it) {
        end.push_back(u);
        target.push_back(v);
        log_share.push_back(log_share_of_it);
    }

    void clear() {
        end.clear();
        target.clear();
        log_share.clear();
    }
};

// All places for a subtree that was taken off, of some nodes, of which the first n_ends
// may get a parent.
void find_places(View<const Index, 1> nodes, Index n_ends, const Forest& forest,
                 View<const bool, 1> signal, Weights alone, const EdgeTables& edges,
                 Places& places) {
    places.clear();
    std::array<double, 2> own{};
    for (Index u : nodes) places.below[u] = true;
    for (bool group : {false, true}) {
        for (Index u : nodes) own[group] += alone(group, u) + forest.edge(group, u);
        for (Index u : nodes.part(0, n_ends)) places.add(u, group ? -2 : -1, own[group]);
    }
    double top = std::max(own[0], own[1]);
    for (bool group : {false, true}) {
        const EdgeTable& table = edges[group];
        for (Index u : nodes.part(0, n_ends))
            for (Index e = table.start[u]; e < table.start[u + 1]; ++e) {
                double log_share = own[group] + table.log_weight[e];
                if (log_share < top - NEVER_TAKEN) break;
                Index v = table.end[e];
                if (signal[v] != group || places.below[v]) continue;
                places.add(u, v, log_share);
                top = std::max(top, log_share);
            }
    }
    for (Index u : nodes) places.below[u] = false;
}

// A forest from its parents.
Forest read_forest(View<const std::int32_t, 1> parent, const EdgeTables& edges) {
    Forest forest(parent.size());
    for (Index j = 0; j < parent.size(); ++j) {
        if (parent[j] < 0)
            forest.add_root(j);
        else
            forest.hang_by(j, parent[j], edges);
    }
    return forest;
}

// How a chain moves.
struct Moves {
    Index number;  // of repetitions
    Index most;    // trees that each of them tries to switch
    bool any_end;  // whether any node of a subtree may get a parent, not just its root

    auto fields() { return std::tie(number, most, any_end); }
};

// Switch some trees, then reassign a subtree of a tree that was pivoted; repeat.
//
// signal, parent : the graph; both are overwritten
// alone : log weight of each node in the noise and in the signal, of shape (2, d)
//
// Returns the shares of the trees proposed that have switched, and of the moves that
// have given a subtree another parent or group; and the log weight of the graph.
std::tuple<double, double, double> make_moves(View<bool, 1> signal,
                                              View<std::int32_t, 1> parent,
                                              Weights alone, EdgeTables edges,
                                              Moves moves, Random random) {
    auto [n_moves, most, any_end] = moves;
    Index d = signal.size();
    Vector<Index> found(d);
    Forest forest = read_forest(parent, edges);
    Places places(d);
    double switched = 0.0, reassigned = 0.0;
    for (Index move = 0; move < n_moves; ++move) {
        switched += switch_trees(signal, forest, alone, most, random, found);
        Index j = random.below(d);
        if (any_end) {
            forest.pivot(random.below(d));
        } else {
            View<const Index, 1> tree = forest.subtree(forest.root_of(j), found);
            forest.pivot(tree[random.below(tree.size())]);
        }

        View<const Index, 1> nodes = forest.subtree(j, found);
        Index old = forest.up[j];
        bool old_group = signal[j];
        if (old >= 0) {
            forest.take_off(j);
            forest.edge(0, j) = forest.edge(1, j) = 0.0;
            forest.add_root(j);
        }
        find_places(nodes, any_end ? nodes.size() : 1, forest, signal, alone, edges,
                    places);
        Index at = choose({places.log_share.data(), {Index(places.log_share.size())}},
                          random);
        Index end = places.end[at], target = places.target[at];
        bool group = target < 0 ? target == -2 : signal[target];
        for (Index u : nodes) signal[u] = group;
        forest.pivot(end);
        if (target >= 0) {
            forest.hang_by(end, target, edges);
            forest.swap_roots(forest.place[end], --forest.n_roots);
        }
        reassigned += end != j || std::max<Index>(target, -1) != old || group != old_group;
    }
    double log_weight = 0.0;
    for (Index j = 0; j < d; ++j) {
        parent[j] = std::int32_t(forest.up[j]);
        log_weight += alone(signal[j], j) + forest.edge(signal[j], j);
    }
    double n = double(std::max<Index>(n_moves, 1));
    return {switched / n, reassigned / n, log_weight};
}

}  // namespace

void clearwood::sbfc::add_moves(nb::module_& module) {
    add_kernel(module, "make_moves", &make_moves);
}
