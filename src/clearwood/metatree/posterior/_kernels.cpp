// Recursions over the nodes of a tree: the posterior, and what follows from it.
//
// Nodes stand parents first, so one loop from the last node to the first is bottom-up,
// and one from the first to the last is top-down.
#include "../../_native/array.hpp"
#include "../../distributions/_kernels.hpp"

#include <vector>

using namespace clearwood;
using namespace clearwood::distributions;

namespace {

using Nodes = View<const std::int32_t, 1>;  // a number of a node (or child) per node
using Numbers = View<const double, 1>;
using Rows = View<const double, 2>;  // of statistics, or of other numbers, per node

// log(exp(a) + exp(b)).
double logaddexp(double a, double b) {
    if (a == b) return a + std::log(2.0);
    return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

// log(1 + exp(x)), which is -log(1 - g) where x is the log odds of g.
double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

// Bottom-up: Theorem 1

// Sums of every node with all that is below.
Matrix<double> sum_up(Rows own, Nodes parent) {
    auto total = copy_of(own);
    for (Index node = parent.size() - 1; node > 0; --node)
        for (Index j = 0; j < own.size(1); ++j)
            total(parent[node], j) += total(node, j);
    return total;
}

// Moments, of d variables, of every node with all that is below.
Matrix<double> moments_up(Rows own, Nodes parent, Index d) {
    auto total = copy_of(own);
    for (Index node = parent.size() - 1; node > 0; --node)
        merge_moments(total[parent[node]], total[node], d);
    return total;
}

// Logs of 1 - g and of g; here, as NumPy's own may differ in the last bit.
std::tuple<Vector<double>, Vector<double>> logs_of_prior(Numbers g) {
    Vector<double> log_not_g(g.size()), log_g(g.size());
    for (Index node = 0; node < g.size(); ++node) {
        bool again = node > 0 && g[node] == g[node - 1];  // as of most nodes
        log_not_g[node] = again ? log_not_g[node - 1] : std::log1p(-g[node]);
        log_g[node] = again ? log_g[node - 1] : std::log(g[node]);
    }
    return {std::move(log_not_g), std::move(log_g)};
}

// Inner nodes at which rows stop: those with own statistics.
Vector<std::int32_t> stops(Rows own, Nodes first_child) {
    std::vector<std::int32_t> found;
    for (Index node = 0; node < own.size(0); ++node) {
        auto its = own[node];
        if (first_child[node] >= 0 &&
            std::any_of(its.begin(), its.end(), [](double x) { return x != 0.0; }))
            found.push_back(std::int32_t(node));
    }
    Vector<std::int32_t> nodes{Index(found.size())};
    std::copy(found.begin(), found.end(), nodes.begin());
    return nodes;
}

// Evidence of every node from those of its children: (10) and (11).
//
// log_stop : log weight of the tree that stops at the node, with its leaf's evidence
// log_split : log weight of asking on
// log_stopped : evidence of the rows that stop at an inner node: one more child
//
// Returns the evidence, and the log odds of asking on given the data (9).
std::tuple<Vector<double>, Vector<double>> evidence_up(Nodes parent, Nodes first_child,
                                                       Numbers log_stop,
                                                       Numbers log_split,
                                                       Numbers log_stopped) {
    Index n = parent.size();
    auto children = copy_of(log_stopped);
    Vector<double> log_q(n), log_odds(n);
    for (Index node = n - 1; node >= 0; --node) {
        if (first_child[node] < 0) {
            log_q[node] = log_stop[node];
            log_odds[node] = -infinity;
        } else {
            double split = log_split[node] + children[node];
            log_q[node] = logaddexp(log_stop[node], split);
            log_odds[node] = split - log_stop[node];
        }
        if (node > 0) children[parent[node]] += log_q[node];
    }
    return {std::move(log_q), std::move(log_odds)};
}

// Probability that a tree splits on a feature anywhere.
//
// Below a node it does so with u = g (1 if used here else 1 - prod (1 - u')), the
// product over the children; kept in logs so that small ones stay exact.
Vector<double> use_of_features(Nodes parent, Nodes first_child, Nodes feature,
                               Numbers g, Index n_features) {
    Index n = parent.size();
    Vector<double> used(n_features), log_unused(n);
    Vector<bool> splits(n_features);
    for (Index node = 0; node < n; ++node)
        if (first_child[node] >= 0) splits[feature[node]] = true;
    for (Index d = 0; d < n_features; ++d) {
        if (!splits[d]) continue;
        log_unused.fill(0.0);
        for (Index node = n - 1; node >= 0; --node) {
            double u = 0.0;
            if (first_child[node] >= 0)
                u = feature[node] == d ? g[node]
                                       : -g[node] * std::expm1(log_unused[node]);
            if (node > 0)
                log_unused[parent[node]] += std::log1p(-u);
            else
                used[d] = u;
        }
    }
    return used;
}

// Whether the subtree of the largest log weight below every node asks there.
Vector<bool> best_below(Nodes parent, Nodes first_child, Numbers log_stop,
                        Numbers log_split) {
    Index n = parent.size();
    Vector<double> children(n);
    Vector<bool> asks(n);
    for (Index node = n - 1; node >= 0; --node) {
        double best = log_stop[node];
        if (first_child[node] >= 0 && log_split[node] + children[node] > best) {
            best = log_split[node] + children[node];
            asks[node] = true;
        }
        if (node > 0) children[parent[node]] += best;
    }
    return asks;
}

// Top-down

// Probability that a tree reaches the node: the product of g above it.
Vector<double> reach_down(Nodes parent, Numbers g) {
    Vector<double> reach(parent.size(), 1.0);
    for (Index node = 1; node < parent.size(); ++node)
        reach[node] = reach[parent[node]] * g[parent[node]];
    return reach;
}

// Keep of every draw (row) the nodes that can be reached, in place.
void draw_down(Nodes parent, View<bool, 2> asks) {
    for (Index i = 0; i < asks.size(0); ++i)
        for (Index node = 1; node < parent.size(); ++node)
            asks(i, node) = asks(i, node) && asks(i, parent[node]);
}

// What is predicted for rows that end at each node, from what the nodes say.
//
// g : posterior probability that a tree that reaches the node asks on
// own : (n_nodes, n_outputs)
//
// Returns the mixture on the way to each node, all that is left given to the node.
Matrix<double> mix_down(Nodes parent, Numbers g, Rows own) {
    auto mixed = copy_of(own);
    Matrix<double> before(own.shape());
    Vector<double> left(parent.size(), 1.0);
    for (Index node = 1; node < parent.size(); ++node) {
        Index up = parent[node];
        left[node] = left[up] * g[up];
        for (Index j = 0; j < own.size(1); ++j) {
            before(node, j) = before(up, j) + left[up] * (1.0 - g[up]) * own(up, j);
            mixed(node, j) = before(node, j) + left[node] * own(node, j);
        }
    }
    return mixed;
}

// Nodes on the way to every end, and how much of the mixture lies at each.
//
// Returns, both of shape (n_ends, width), the nodes from the root on, behind the end
// the end again; and stop times the product of g above, all that is left at the end,
// 0 behind it.
std::tuple<Matrix<std::int32_t>, Matrix<double>> paths_up(Nodes ends, Nodes parent,
                                                          Nodes depth, Numbers g,
                                                          Numbers stop, Index width) {
    Matrix<std::int32_t> nodes({ends.size(), width});
    Matrix<double> weight({ends.size(), width});
    for (Index i = 0; i < ends.size(); ++i) {
        std::int32_t node = ends[i];
        Index last = depth[node];
        nodes[i].part(last, width).fill(node);
        for (Index level = last - 1; level >= 0; --level) {
            node = parent[node];
            nodes(i, level) = node;
        }
        double left = 1.0;
        for (Index level = 0; level < last; ++level) {
            weight(i, level) = left * stop[nodes(i, level)];
            left *= g[nodes(i, level)];
        }
        weight(i, last) = left;
    }
    return {std::move(nodes), std::move(weight)};
}

// Proposition 1: one row after the other

// Arrays of a posterior, see Posterior, and numbers of the rows that end at each node;
// changed in place.
struct Learned {
    View<double, 2> own, total;
    View<double, 1> log_marginal, log_q, log_odds;
    std::optional<View<Index, 1>> rows;
    auto fields() {
        return std::tie(own, total, log_marginal, log_q, log_odds, rows);
    }
};

// Proposition 1: every row changes only the nodes on its way.
//
// ends : of the rows, from find_ends
// z : the target of every row, behind the features where the leaf model reads any
// kind, prior : of the leaf model
//
// Returns the log density of every row given the rows before it.
Vector<double> learn_in_turn(Nodes ends, Rows z, Nodes parent, Nodes first_child,
                             int kind, Numbers prior, Learned learned) {
    auto& [own, total, log_marginal, log_q, log_odds, rows] = learned;
    Vector<double> log_density(ends.size());
    for (Index i = 0; i < ends.size(); ++i) {
        Index node = ends[i];
        // A row that stops at an inner node is in one more child of that node.
        double below = 0.0;
        if (first_child[node] >= 0)
            below = log_predictive(kind, own[node], prior, z[i]);
        add_one(kind, own[node], prior, z[i]);
        if (rows) (*rows)[node] += 1;
        for (; node >= 0; node = parent[node]) {
            double here = log_predictive(kind, total[node], prior, z[i]);
            double q = here;
            if (first_child[node] >= 0) {
                // (8), then (6): the odds of g times q(child) / p(y | node).
                double stop = here - softplus(log_odds[node]);
                q = logaddexp(stop, below - softplus(-log_odds[node]));
                log_odds[node] += below - here;
            }
            log_marginal[node] += here;
            log_q[node] += q;
            add_one(kind, total[node], prior, z[i]);
            below = q;
        }
        log_density[i] = below;
    }
    return log_density;
}

// Corollary 1: what few rows leave as it is

// The nodes on the ways to some ends, and their children: a small tree.
//
// nodes : ascending
// parent, first_child : among these; only nodes on the ways have children
// on_way : whether a node is on a way
struct Near {
    Nodes nodes, parent, first_child;
    View<const bool, 1> on_way;
    auto fields() { return std::tie(nodes, parent, first_child, on_way); }
};

// Returns a Near, the place in it of every end, and statistics of its nodes: own ones
// on the ways; beside them total, as these nodes stand for all that is below them.
auto near_ways(Nodes ends, Nodes parent, Nodes first_child, Rows own, Rows total) {
    using List = std::vector<std::int32_t>;
    auto make_set = [](List& nodes) {
        std::sort(nodes.begin(), nodes.end());
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    };
    List ways;
    for (std::int32_t node : ends)
        for (; node >= 0; node = parent[node]) ways.push_back(node);
    make_set(ways);
    List all = ways;
    for (std::int32_t node : ways)
        if (std::int32_t child = first_child[node]; child >= 0)
            for (; child < parent.size() && parent[child] == node; ++child)
                all.push_back(child);
    make_set(all);
    auto place = [&](std::int32_t node) {
        auto found = std::lower_bound(all.begin(), all.end(), node);
        return std::int32_t(found - all.begin());
    };
    Index n = Index(all.size());
    Vector<std::int32_t> nodes(n), above(n, -1), below(n, -1), at(ends.size());
    Vector<bool> on_way(n);
    Matrix<double> its({n, own.size(1)});
    std::copy(all.begin(), all.end(), nodes.begin());
    std::transform(ends.begin(), ends.end(), at.begin(), place);
    for (std::int32_t node : ways) {
        on_way[place(node)] = true;
        if (first_child[node] >= 0) below[place(node)] = place(first_child[node]);
    }
    for (Index i = 0; i < n; ++i) {
        auto source = (on_way[i] ? own : total)[nodes[i]];
        std::copy(source.begin(), source.end(), its[i].begin());
        if (i > 0) above[i] = place(parent[nodes[i]]);
    }
    auto near = std::tuple(std::move(nodes), std::move(above), std::move(below),
                           std::move(on_way));
    return std::tuple(std::move(near), std::move(at), std::move(its));
}

// Rows at places in a Near, and how often they count: weight is of length 1 for all.
struct Came {
    Nodes at;
    Numbers weight;
    auto fields() { return std::tie(at, weight); }
};

// Put statistics of a Near with the rows that came in place, and count these.
void put_own(Near near, Came came, Rows its, View<double, 2> own,
             std::optional<View<Index, 1>> rows) {
    for (Index i = 0; i < near.nodes.size(); ++i)
        if (near.on_way[i])
            std::copy(its[i].begin(), its[i].end(), own[near.nodes[i]].begin());
    Index step = came.weight.size() == came.at.size();
    for (Index i = 0; rows && i < came.at.size(); ++i)
        (*rows)[near.nodes[came.at[i]]] += came.weight[i * step] > 0.0;
}

// What is known of the nodes of a Near with the rows that came.
struct Known {
    Rows own, total;
    Numbers log_marginal, log_stopped;
    auto fields() { return std::tie(own, total, log_marginal, log_stopped); }
};

// Put it in place, with the evidence of the nodes on the ways; in one call, so that no
// interrupt leaves half of it.
void learn_near(Near near, Came came, Known its, Numbers g, Learned learned) {
    const auto& nodes = near.nodes;
    Vector<double> its_g(nodes.size());
    for (Index i = 0; i < nodes.size(); ++i) its_g[i] = g[nodes[i]];
    auto [log_stop, log_split] = logs_of_prior(its_g);
    for (Index i = 0; i < nodes.size(); ++i)
        log_stop[i] = near.on_way[i] ? log_stop[i] + its.log_marginal[i]
                                     : learned.log_q[nodes[i]];
    auto [log_q, log_odds] = evidence_up(near.parent, near.first_child, log_stop,
                                         log_split, its.log_stopped);
    put_own(near, came, its.own, learned.own, learned.rows);
    for (Index i = 0; i < nodes.size(); ++i) {
        if (!near.on_way[i]) continue;
        std::copy(its.total[i].begin(), its.total[i].end(),
                  learned.total[nodes[i]].begin());
        learned.log_marginal[nodes[i]] = its.log_marginal[i];
        learned.log_q[nodes[i]] = log_q[i];
        learned.log_odds[nodes[i]] = log_odds[i];
    }
}

// Among how much a search chose

// In how many features the rows that pass each node differ; NaN is one value.
//
// columns : (n_features, n_rows)
// ends : where each row ends
Vector<Index> count_varying(View<const double, 2> columns, Nodes ends, Nodes parent) {
    Index n = parent.size();
    auto differ = [](double a, double b) {
        return a != b && !(std::isnan(a) && std::isnan(b));
    };
    Vector<Index> n_varying(n);
    Vector<double> first(n);
    Vector<bool> seen(n), varies(n);
    auto see = [&](Index node, double value) {
        if (!seen[node]) {
            seen[node] = true;
            first[node] = value;
        } else if (differ(first[node], value)) {
            varies[node] = true;
        }
    };
    for (Index d = 0; d < columns.size(0); ++d) {
        seen.fill(false);
        varies.fill(false);
        for (Index i = 0; i < ends.size(); ++i) see(ends[i], columns(d, i));
        for (Index node = n - 1; node > 0; --node) {
            if (!seen[node]) continue;
            see(parent[node], first[node]);
            if (varies[node]) varies[parent[node]] = true;
        }
        for (Index node = 0; node < n; ++node) n_varying[node] += varies[node];
    }
    return n_varying;
}

// How many values of one feature the rows that pass each node have.
//
// rank : of each row's value; rows in ascending order
// ends : where each row ends
Vector<Index> distinct_values(View<const Index, 1> rank, Nodes ends, Nodes parent) {
    Vector<Index> n_values(parent.size()), last(parent.size(), -1);
    for (Index i = 0; i < rank.size(); ++i)
        // Above a node that has seen the value all have.
        for (Index node = ends[i]; node >= 0 && last[node] != rank[i];
             node = parent[node]) {
            last[node] = rank[i];
            ++n_values[node];
        }
    return n_values;
}

}  // namespace

void add_metatree_posterior(nb::module_& module) {
    add_kernel(module, "sum_up", &sum_up);
    add_kernel(module, "moments_up", &moments_up);
    add_kernel(module, "stops", &stops);
    add_kernel(module, "logs_of_prior", &logs_of_prior);
    add_kernel(module, "evidence_up", &evidence_up);
    add_kernel(module, "use_of_features", &use_of_features);
    add_kernel(module, "best_below", &best_below);
    add_kernel(module, "reach_down", &reach_down);
    add_kernel(module, "draw_down", &draw_down);
    add_kernel(module, "mix_down", &mix_down);
    add_kernel(module, "paths_up", &paths_up);
    add_kernel(module, "learn_in_turn", &learn_in_turn);
    add_kernel(module, "near_ways", &near_ways);
    add_kernel(module, "put_own", &put_own);
    add_kernel(module, "learn_near", &learn_near);
    add_kernel(module, "count_varying", &count_varying);
    add_kernel(module, "distinct_values", &distinct_values);
}
