// Components: the collapsed sampler, and random forests.
//
// One graph holds both groups, of 2 d nodes: feature j is node j in the noise, and node
// j + d in the signal. Of these two one is active. A component is a set of active nodes
// that edges tie together.
#include "_kernels.hpp"

using namespace clearwood;
using namespace clearwood::sbfc;

namespace {

// Moves less probable than this are not made.
constexpr double NEVER = 1e-15;

// Edges of both groups, as in a CSR matrix.
struct Graph {
    View<const std::int32_t, 1> first, neighbour;
    View<const double, 1> log_weight;

    auto fields() { return std::tie(first, neighbour, log_weight); }

    View<const std::int32_t, 1> neighbours(Index v) const {
        return neighbour.part(first[v], first[v + 1]);
    }
};

// Blocks of features that move together: where each begins, and its features.
struct Blocks {
    View<const Index, 1> first, feature;

    auto fields() { return std::tie(first, feature); }
    Index size() const { return first.size() - 1; }
    View<const Index, 1> operator[](Index b) const {
        return feature.part(first[b], first[b + 1]);
    }
};

using Active = View<const bool, 1>;
using Nodes = View<const Index, 1>;
using Weights = View<const double, 1>;

// The node of a feature where it is, and where it is not.
struct Sides {
    Index here, there;

    Sides(Index j, Active active) : here(j), there(j + active.size() / 2) {
        if (!active[j]) std::swap(here, there);
    }
};

// Components that are written down, and what that takes.
struct Components {
    Vector<Index> members;  // one component after the other
    Vector<Index> ends;     // where each ends; ends[0] = 0
    Index n_found = 0;
    Vector<Index> seen;   // by which stamp
    Vector<Index> place;  // of a node among the members of its component, from 1 on

    explicit Components(Index n) : members(n), ends(n + 1), seen(n), place(n) {}

    Nodes operator[](Index c) const { return members.part(ends[c], ends[c + 1]); }

    // Write down the active nodes tied to a node, unless it was seen by this stamp.
    void collect(Index start, Active active, const Graph& graph, Index stamp) {
        if (seen[start] == stamp) return;
        seen[start] = stamp;
        Index done = ends[n_found], end = done;
        members[end++] = start;
        for (; done < end; ++done)
            for (Index u : graph.neighbours(members[done]))
                if (active[u] && seen[u] != stamp) {
                    seen[u] = stamp;
                    members[end++] = u;
                }
        ends[++n_found] = end;
    }
};

// All components of the active nodes, each of which begins with its first node.
Components all_components(Active active, const Graph& graph) {
    Components found(active.size());
    for (Index v = 0; v < active.size(); ++v)
        if (active[v]) found.collect(v, active, graph, 1);
    return found;
}

// Log weights within a component, with the ground.
Matrix<double> component_graph(Nodes members, Active active, const Graph& graph,
                               View<Index, 1> place) {
    Matrix<double> found = only_ground(members.size());
    for (Index i = 0; i < members.size(); ++i) place[members[i]] = i + 1;
    for (Index i = 0; i < members.size(); ++i) {
        Index v = members[i];
        for (Index e = graph.first[v]; e < graph.first[v + 1]; ++e) {
            Index u = graph.neighbour[e];
            if (active[u] && place[u] <= i)
                found(i + 1, place[u]) = graph.log_weight[e];
        }
    }
    return found;
}

// Log sum over the forests of a component.
double component_sum(Nodes members, Active active, const Graph& graph,
                     View<Index, 1> place) {
    if (members.size() == 1) return 0.0;
    return log_sum_of_forests(component_graph(members, active, graph, place));
}

double weight_of(double log_weight) { return std::exp(std::min(log_weight, 700.0)); }

// Add the most that an edge brings; see most_gained.
void add_edge(double& gain, double log_weight) {
    gain += std::log1p(2.0 * weight_of(log_weight));
    gain += std::max(log_weight - 700.0, 0.0);
}

// Log sum over the forests of some nodes, whatever else there is.
double block_sum(Nodes nodes, const Graph& graph, View<bool, 1> inside,
                 View<Index, 1> place) {
    for (Index v : nodes) inside[v] = true;
    double result = component_sum(nodes, inside, graph, place);
    for (Index v : nodes) inside[v] = false;
    return result;
}

// Log sums over the forests of every block: all of it in the noise, and in the signal.
Matrix<double> log_sums_of_blocks(const Graph& graph, const Blocks& blocks) {
    Index n = graph.first.size() - 1;
    Vector<Index> place(n);
    Vector<bool> inside(n);
    Matrix<double> found({blocks.size(), 2});
    for (Index b = 0; b < blocks.size(); ++b) {
        Vector<Index> nodes = copy_of(blocks[b]);
        found(b, 0) = block_sum(nodes, graph, inside, place);
        for (Index& v : nodes) v += n / 2;
        found(b, 1) = block_sum(nodes, graph, inside, place);
    }
    return found;
}

// most_gained for a block of one feature; whether that is all it gains.
std::tuple<double, bool> most_gained_by_one(Index j, Active active, Weights own,
                                            const Graph& graph) {
    auto [first, neighbour, log_weight] = graph;
    Sides node(j, active);
    double gain = own[node.there] - own[node.here], tied = 0.0;
    bool alone = true;
    for (Index e = first[node.here]; e < first[node.here + 1]; ++e)
        if (active[neighbour[e]]) {
            alone = false;
            tied += weight_of(log_weight[e]);
        }
    for (Index e = first[node.there]; e < first[node.there + 1]; ++e)
        if (active[neighbour[e]]) {
            alone = false;
            add_edge(gain, log_weight[e]);
        }
    return {gain - std::log1p(tied), alone};
}

// More than what the log joint gains where a block of features changes sides.
//
// Let R be the others of a group, and det the sum over forests. A block A that leaves
// takes at least det(A) (1 + sum b / |A|) with it, b its edges to R: there are the
// forests without any of these edges, and those with one of them at a root in A, as
// every feature is with probability 1 / |A| or more. A block that comes brings at most
// det(A) prod (1 + 2 b): an edge more is worth 1 + b r, its resistance r at most 2.
//
// log_sum : over the forests of the block, all of it in the noise, and in the signal
// inside, place : scratch for every node; inside is false everywhere
double most_gained(Nodes features, Weights log_sum, Active active, Weights own,
                   const Graph& graph, View<bool, 1> inside, View<Index, 1> place) {
    auto [first, neighbour, log_weight] = graph;
    Index d = active.size() / 2, n_signal = 0;
    for (Index j : features) {
        inside[Sides(j, active).here] = true;
        n_signal += active[j + d];
    }
    double gain = 0.0, m = double(features.size());
    std::array<double, 2> tied{};
    for (Index j : features) {
        Sides node(j, active);
        gain += own[node.there] - own[node.here];
        for (Index e = first[node.here]; e < first[node.here + 1]; ++e) {
            Index u = neighbour[e];
            if (active[u] && !inside[u])
                tied[node.here >= d] += weight_of(log_weight[e]) / m;
        }
        for (Index e = first[node.there]; e < first[node.there + 1]; ++e) {
            Index u = neighbour[e];
            if (active[u] && !inside[u < d ? u + d : u - d])
                add_edge(gain, log_weight[e]);
        }
    }
    for (Index j : features) inside[Sides(j, active).here] = false;
    gain -= std::log1p(tied[0]) + std::log1p(tied[1]);
    if (n_signal == 0) return gain + log_sum[1] - log_sum[0];
    if (n_signal == features.size()) return gain + log_sum[0] - log_sum[1];
    Vector<Index> here = copy_of(features), there = copy_of(features);
    for (Index& v : here) v = Sides(v, active).here;
    for (Index& v : there) v = Sides(v, active).there;
    return gain + block_sum(there, graph, inside, place) -
           block_sum(here, graph, inside, place);
}

// Components as a sweep knows them: the first node of each stands for it.
struct Labels {
    Vector<Index> label;   // of every node that is active: the first of its component
    Vector<double> value;  // log sum over the forests, at this node

    explicit Labels(Index n) : label(n, -1), value(n) {}

    void set(Nodes members, double of_all) {
        value[members[0]] = of_all;
        for (Index u : members) label[u] = members[0];
    }
};

// Label all components; returns the log joint.
double label_components(Active active, Weights own, const Graph& graph,
                        Labels& labels) {
    Components found = all_components(active, graph);
    double log_joint = 0.0;
    for (Index v = 0, c = 0; v < active.size(); ++v) {
        if (!active[v]) continue;
        log_joint += own[v];
        if (labels.label[v] < 0) {
            double value = component_sum(found[c], active, graph, found.place);
            log_joint += value;
            labels.set(found[c++], value);
        }
    }
    return log_joint;
}

// Log weight of all that a move of a block changes.
double value_before(Nodes features, Active active, Weights own, const Graph& graph,
                    const Labels& labels, View<Index, 1> counted, Index stamp) {
    double total = 0.0;
    auto count = [&](Index u) {
        Index label = labels.label[u];
        if (counted[label] == stamp) return;
        counted[label] = stamp;
        total += labels.value[label];
    };
    for (Index j : features) {
        Sides node(j, active);
        total += own[node.here];
        count(node.here);
        for (Index u : graph.neighbours(node.there))
            if (active[u]) count(u);
    }
    return total;
}

// The components that a move has made or changed, in place of those found before.
void components_after(Nodes features, Active active, const Graph& graph, Index stamp,
                      Components& found) {
    found.n_found = 0;
    for (Index j : features) {
        Sides node(j, active);
        found.collect(node.here, active, graph, stamp);
        // What was tied to it where it was.
        for (Index u : graph.neighbours(node.there))
            if (active[u]) found.collect(u, active, graph, stamp);
    }
}

// Move a block to the other group, in place.
void change_sides(Nodes features, View<bool, 1> active) {
    for (Index j : features) std::swap(active[j], active[j + active.size() / 2]);
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// Move every block of features to the other group, or leave it, in turn.
//
// A move replaces the components that it takes nodes from, or brings them to, by those
// that are there afterwards; all others stay as they are.
//
// active : of shape (2 d,), changed in place
// own : log weight of every node
// log_sums : of log_sums_of_blocks
// draws : uniform, one for each block; a move is made where one is below its
//     probability (never: nan)
//
// Returns the log joint of the groups at the end; and the probability of every block to
// move, given where all others were at that turn, or a bound of it, where that settled
// that the block stays.
std::tuple<double, Vector<double>> sweep(View<bool, 1> active, Weights own,
                                         const Graph& graph, const Blocks& blocks,
                                         View<const double, 2> log_sums,
                                         View<const double, 1> draws) {
    Index n = active.size();
    Labels labels(n);
    double log_joint = label_components(active, own, graph, labels);
    Components found(n);
    Vector<Index> counted(n);
    Vector<bool> inside(n);
    Vector<double> p(draws.size()), values(n);
    for (Index b = 0; b < draws.size(); ++b) {
        Nodes features = blocks[b];
        Index stamp = b + 1;
        double most = 0.0;
        bool exact = false;
        if (features.size() == 1)
            std::tie(most, exact) = most_gained_by_one(features[0], active, own, graph);
        else
            most = most_gained(features, log_sums[b], active, own, graph, inside,
                               found.place);
        p[b] = sigmoid(most);
        if (draws[b] >= p[b] || p[b] < NEVER) continue;
        if (exact && std::isnan(draws[b])) continue;
        double gain =
            -value_before(features, active, own, graph, labels, counted, stamp);
        change_sides(features, active);
        components_after(features, active, graph, stamp, found);
        for (Index c = 0; c < found.n_found; ++c) {
            values[c] = component_sum(found[c], active, graph, found.place);
            gain += values[c];
        }
        for (Index j : features) gain += own[Sides(j, active).here];
        p[b] = sigmoid(gain);
        if (draws[b] < p[b]) {
            log_joint += gain;
            for (Index c = 0; c < found.n_found; ++c) labels.set(found[c], values[c]);
        } else {
            change_sides(features, active);
        }
    }
    return {log_joint, std::move(p)};
}

// Add to every edge share times its probability, given the groups.
void add_edge_probabilities(Active active, const Graph& graph, double share,
                            View<double, 1> total) {
    Components components = all_components(active, graph);
    View<Index, 1> place = components.place;
    for (Index c = 0; c < components.n_found; ++c) {
        Nodes part = components[c];
        if (part.size() == 1) continue;
        Matrix<double> found =
            edge_probabilities(component_graph(part, active, graph, place));
        for (Index u : part)
            for (Index e = graph.first[u]; e < graph.first[u + 1]; ++e) {
                Index v = graph.neighbour[e];
                if (!active[v]) continue;
                auto [low, high] = std::minmax(place[u], place[v]);
                total[e] += share * found(high, low);
            }
    }
}

// Parents of all features, -1 for roots, in random forests, given the groups.
Matrix<std::int32_t> draw_parents(Active active, const Graph& graph, Index n_draws,
                                  Random random) {
    Index d = active.size() / 2;
    Components components = all_components(active, graph);
    Matrix<std::int32_t> parents({n_draws, d}, -1);
    for (Index c = 0; c < components.n_found; ++c) {
        Nodes part = components[c];
        if (part.size() == 1) continue;
        Matrix<double> own = component_graph(part, active, graph, components.place);
        Elimination without = eliminate_all(own);
        for (Index draw = 0; draw < n_draws; ++draw) {
            Vector<Index> found = draw_tree(own, without, random);
            for (Index i = 0; i < part.size(); ++i)
                if (found[i + 1] > 0)
                    parents(draw, part[i] % d) =
                        std::int32_t(part[found[i + 1] - 1] % d);
        }
    }
    return parents;
}

}  // namespace

void clearwood::sbfc::add_sweep(nb::module_& module) {
    add_kernel(module, "log_sums_of_blocks", &log_sums_of_blocks);
    add_kernel(module, "most_gained_by_one", &most_gained_by_one);
    add_kernel(module, "most_gained", &most_gained);
    add_kernel(module, "sweep", &sweep);
    add_kernel(module, "add_edge_probabilities", &add_edge_probabilities);
    add_kernel(module, "draw_parents", &draw_parents);
}
