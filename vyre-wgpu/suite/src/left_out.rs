//! Tests of the suite that this backend does not pass, each with the reason.

/// Tests that are about what this backend does not do, or does otherwise.
const ABOUT_OTHERS: &[(&str, &str)] = &[
    (
        "anew::memory_that_is_shared_begins_anew",
        "scratch and frontiers do not share memory in shaders",
    ),
    (
        "kernels::what_waits_for_a_call_refuses_nobody",
        "its budget is in bytes of other backends",
    ),
    (
        "language::rules_of_arithmetic_hold",
        "comparisons with NaN are the driver's (docs/PORTABLE.md)",
    ),
    (
        "sessions::a_run_too_long_for_the_budget_is_refused_each_time_and_others_go_on",
        "its budget is in bytes of other backends",
    ),
    (
        "sessions::sessions_share_one_budget_and_give_it_back",
        "its budget is in bytes of other backends",
    ),
];

/// Tests with a pass that shaders do not have (docs/PORTABLE.md), and what they are refused for.
const REFUSED: &[(&str, &str)] = &[
    (
        "anew::a_proof_holds_around_which_memory_begins_anew",
        "begins anew",
    ),
    (
        "anew::every_round_begins_with_the_initial_value",
        "begins anew",
    ),
    (
        "determinism::exact_sums_have_the_same_bytes",
        "an exact sum of f64",
    ),
    (
        "determinism::exact_sums_hold_what_floats_hold",
        "an exact sum of f64",
    ),
    (
        "determinism::exact_sums_in_odd_places",
        "an exact sum of f64",
    ),
    (
        "entries::buffers_that_trade_places_begin_anew",
        "begins anew",
    ),
    ("entries::each_entry_has_the_limit_of_rounds", "begins anew"),
    ("entries::each_round_runs_the_included_graph", "begins anew"),
    (
        "entries::what_is_included_in_included_graphs_runs_anew",
        "begins anew",
    ),
    (
        "include::included_graphs_sweep_the_edges_that_are_left",
        "begins anew",
    ),
    (
        "include::results_of_included_graphs_may_be_private",
        "begins anew",
    ),
    (
        "indexes::an_included_index_begins_anew_with_each_round",
        "begins anew",
    ),
    (
        "indexes::an_index_begins_anew_with_its_relation",
        "begins anew",
    ),
    (
        "language::approximate_functions_are_near",
        "exp, ln, sin or cos of f64",
    ),
    (
        "relations::a_relation_begins_anew_with_each_round",
        "begins anew",
    ),
    (
        "relations_composed::a_relation_of_a_graph_in_a_round_begins_anew",
        "begins anew",
    ),
];

fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let found = table.iter().find(|(test, _)| *test == name);
    found.map(|(_, why)| *why)
}

/// Why a test is not run.
pub(crate) fn about(name: &str) -> Option<&'static str> {
    find(ABOUT_OTHERS, name)
}

/// What a test's pass is refused for.
pub(crate) fn refused(name: &str) -> Option<&'static str> {
    find(REFUSED, name)
}
