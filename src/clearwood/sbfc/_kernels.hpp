// What the kernels of feature forests share: sums over forests, by the matrix-tree
// theorem in logs, and draws of forests.
//
// A graph is a matrix of log weights of which only what stands below the diagonal
// counts. Its node 0 is the ground. Rooted forests of features are the trees of this
// graph: a root is tied to the ground, with weight 1.
#pragma once

#include "../_native/array.hpp"
#include "../_native/random.hpp"

namespace clearwood::sbfc {

// Any number of nodes without an edge but those to the ground.
Matrix<double> only_ground(Index n_features);

// Log of the sum of the weights of all rooted forests; the graph is used up.
double log_sum_of_forests(View<double, 2> graph);

// Probability of every edge (below the diagonal) in a forest drawn by weight; the graph
// is used up.
Matrix<double> edge_probabilities(View<double, 2> graph);

// What is left of a graph each time that a node is taken out, from the last one on.
struct Elimination {
    Array<double, 3> left;     // left[k]: log weights without node k and all after it
    Vector<double> log_total;  // log sums of the weights of the edges of k at that time
};

// Take out all nodes. Row k of the graph stays as it was when node k went.
Elimination eliminate_all(View<double, 2> graph);

// Parents of all nodes in a random forest, drawn by weight; roots have parent 0.
Vector<Index> draw_tree(View<const double, 2> graph, const Elimination& without,
                        Random random);

// One of some places, as likely as its share.
Index choose(View<const double, 1> log_share, Random random);

void add_moves(nb::module_& module);
void add_prediction(nb::module_& module);
void add_sweep(nb::module_& module);

}  // namespace clearwood::sbfc
