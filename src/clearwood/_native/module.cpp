// The compiled extension clearwood._kernels: one submodule for each _kernels.cpp.
#include "array.hpp"

namespace nb = nanobind;

void add_discretize(nb::module_& module);
void add_ensembles(nb::module_& module);
void add_rules(nb::module_& module);
void add_fab(nb::module_& module);
void add_in_trees(nb::module_& module);

NB_MODULE(_kernels, module) {
    module.doc() = "Compiled kernels: pure functions on arrays.";

    auto add = [&](const char* name, void (*fill)(nb::module_&)) {
        nb::module_ part = module.def_submodule(name);
        // Known by its own name, so that `from clearwood._kernels.name import f` works.
        std::string full = std::string("clearwood._kernels.") + name;
        nb::module_::import_("sys").attr("modules")[full.c_str()] = part;
        fill(part);
    };
    add("discretize", add_discretize);
    add("ensembles", add_ensembles);
    add("rules", add_rules);
    add("fab", add_fab);
    add("in_trees", add_in_trees);
}
