// Distributions: what Python calls of them, one after the other.
#include "_kernels.hpp"

using namespace clearwood;
using namespace clearwood::distributions;

void add_chow_liu(nb::module_& module);
void add_partial_normal(nb::module_& module);

void add_distributions(nb::module_& module) {
    add_kernel(module, "add_sums", &add_sums);
    add_kernel(module, "log_gamma_rise", &log_gamma_rise);

    add_kernel(module, "count_log_marginals", &count_log_marginals);
    add_kernel(module, "add_counts", &add_counts<std::int64_t>);
    add_kernel(module, "add_counts", &add_counts<double>);

    add_kernel(module, "poisson_log_marginals", &poisson_log_marginals);
    add_kernel(module, "exponential_log_marginals", &exponential_log_marginals);

    add_kernel(module, "add_moments", &add_moments);
    add_kernel(module, "merge_all_moments", &merge_all_moments);
    add_kernel(module, "remove_all_moments", &remove_all_moments);
    add_kernel(module, "normal_log_marginals", &normal_log_marginals);

    add_kernel(module, "linear_update_all", &linear_update_all);
    add_kernel(module, "linear_log_marginals", &linear_log_marginals);
    add_kernel(module, "inverse_square_all", &inverse_square_all);

    module.attr("COUNTS") = int(COUNTS);
    module.attr("POISSON") = int(POISSON);
    module.attr("EXPONENTIAL") = int(EXPONENTIAL);
    module.attr("NORMAL") = int(NORMAL);
    module.attr("LINEAR") = int(LINEAR);
    add_kernel(module, "log_predictive", &log_predictive);
    add_kernel(module, "add_one", &add_one);

    add_chow_liu(module);
    add_partial_normal(module);
}
