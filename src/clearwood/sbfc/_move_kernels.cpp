// The moves of the thesis (2.3.2): Switch Trees, Reassign Subtree, Pivot.
#include "_kernels.hpp"

using namespace clearwood;
using namespace clearwood::sbfc;

namespace {

// Edges of a group, as a sparse table with sorted rows.
struct EdgeTable {
    View<const Index, 1> start;  // of the rows
    View<const Index, 1> end;    // columns
    View<const double, 1> log_weight;

    auto fields() { return std::tie(start, end, log_weight); }

    // Log weight of an edge; minus infinity for one that was left out.
    double weight_of(Index j, Index u) const {
        const Index *last = end.begin() + start[j + 1];
        const Index *place = std::lower_bound(end.begin() + start[j], last, u);
        if (place == last || *place != u) return -infinity;
        return log_weight[place - end.begin()];
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

// Places for a subtree: parents, or -1 and -2 for none in the noise and in the signal;
// and log weights of the whole graph with it there.
struct Places {
    Vector<Index> target;
    Vector<double> log_share;
    Vector<bool> below;  // scratch: false for all nodes

    explicit Places(Index d) : target(d + 2), log_share(d + 2), below(d) {}
};

// All places for a subtree that was taken off, of some nodes, its root first; returns
// their number.
Index parents_for(View<const Index, 1> nodes, const Forest& forest,
                  View<const bool, 1> signal, Weights alone, const EdgeTables& edges,
                  Places& places) {
    Index j = nodes[0], n_places = 0;
    auto add = [&](Index target, double log_share) {
        places.target[n_places] = target;
        places.log_share[n_places++] = log_share;
    };
    for (Index u : nodes) places.below[u] = true;
    for (bool group : {false, true}) {
        double own = 0.0;
        for (Index u : nodes) own += alone(group, u) + forest.edge(group, u);
        add(group ? -2 : -1, own);
        const EdgeTable& table = edges[group];
        for (Index e = table.start[j]; e < table.start[j + 1]; ++e) {
            Index u = table.end[e];
            if (signal[u] != group || places.below[u]) continue;
            add(u, own + table.log_weight[e]);
        }
    }
    for (Index u : nodes) places.below[u] = false;
    return n_places;
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

// Switch some trees, then reassign a subtree of a tree that was pivoted; repeat.
//
// signal, parent : the graph; both are overwritten
// alone : log weight of each node in the noise and in the signal, of shape (2, d)
// n_moves, most : repetitions, and trees that each of them tries to switch
//
// Returns the shares of the trees proposed that have switched, and of the moves that
// have given a subtree another parent or group; and the log weight of the graph.
std::tuple<double, double, double> make_moves(View<bool, 1> signal,
                                              View<std::int32_t, 1> parent,
                                              Weights alone, EdgeTables edges,
                                              Index n_moves, Index most,
                                              Random random) {
    Index d = signal.size();
    Vector<Index> found(d);
    Forest forest = read_forest(parent, edges);
    Places places(d);
    double switched = 0.0, reassigned = 0.0;
    for (Index move = 0; move < n_moves; ++move) {
        switched += switch_trees(signal, forest, alone, most, random, found);
        Index j = random.below(d);
        View<const Index, 1> tree = forest.subtree(forest.root_of(j), found);
        forest.pivot(tree[random.below(tree.size())]);

        View<const Index, 1> nodes = forest.subtree(j, found);
        Index old = forest.up[j];
        bool old_group = signal[j];
        if (old >= 0) {
            forest.take_off(j);
            forest.edge(0, j) = forest.edge(1, j) = 0.0;
            forest.add_root(j);
        }
        Index n_places = parents_for(nodes, forest, signal, alone, edges, places);
        Index at = choose(places.log_share.part(0, n_places), random);
        Index target = places.target[at];
        bool group = target < 0 ? target == -2 : signal[target];
        for (Index u : nodes) signal[u] = group;
        if (target >= 0) {
            forest.hang_by(j, target, edges);
            forest.swap_roots(forest.place[j], --forest.n_roots);
        }
        reassigned += std::max<Index>(target, -1) != old || group != old_group;
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
