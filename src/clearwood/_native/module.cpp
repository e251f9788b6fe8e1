// The compiled extension clearwood._kernels: one submodule for each _kernels.cpp.
#include "array.hpp"

namespace nb = nanobind;

void add_circuits(nb::module_& module);
void add_circuits_learning(nb::module_& module);
void add_distributions(nb::module_& module);
void add_discretize(nb::module_& module);
void add_ensembles(nb::module_& module);
void add_fab(nb::module_& module);
void add_in_trees(nb::module_& module);
void add_metatree_cart(nb::module_& module);
void add_metatree_ensembles(nb::module_& module);
void add_metatree_exact(nb::module_& module);
void add_metatree_mixtures(nb::module_& module);
void add_metatree_posterior(nb::module_& module);
void add_metatree_routing(nb::module_& module);
void add_numeric(nb::module_& module);
void add_rules(nb::module_& module);
void add_sbfc(nb::module_& module);
void add_search(nb::module_& module);
void add_search_lists(nb::module_& module);
void add_search_optimal(nb::module_& module);
void add_search_sums(nb::module_& module);
void add_search_trees(nb::module_& module);
void add_sequences(nb::module_& module);
void add_sequences_networks(nb::module_& module);
void add_sequences_recurrent(nb::module_& module);

NB_MODULE(_kernels, module) {
    module.doc() = "Compiled kernels: pure functions on arrays.";

    auto add = [&](const char* name, void (*fill)(nb::module_&)) {
        nb::module_ part = module.def_submodule(name);
        // Known by its own name, so that `from clearwood._kernels.name import f` works.
        std::string full = std::string("clearwood._kernels.") + name;
        nb::module_::import_("sys").attr("modules")[full.c_str()] = part;
        fill(part);
    };
    add("circuits", add_circuits);
    add("circuits_learning", add_circuits_learning);
    add("distributions", add_distributions);
    add("discretize", add_discretize);
    add("ensembles", add_ensembles);
    add("fab", add_fab);
    add("in_trees", add_in_trees);
    add("metatree_exact", add_metatree_exact);
    add("metatree_growing", add_metatree_cart);
    add("metatree_growing", add_metatree_ensembles);
    add("metatree_posterior", add_metatree_mixtures);
    add("metatree_posterior", add_metatree_posterior);
    add("metatree_posterior", add_metatree_routing);
    add("numeric", add_numeric);
    add("rules", add_rules);
    add("sbfc", add_sbfc);
    add("search", add_search);
    add("search_lists", add_search_lists);
    add("search_lists", add_search_optimal);
    add("search_sums", add_search_sums);
    add("search_trees", add_search_trees);
    add("sequences", add_sequences);
    add("sequences_networks", add_sequences_networks);
    add("sequences_recurrent", add_sequences_recurrent);
}
