# SPDX-License-Identifier: MIT
"""Failures are grouped by what causes them: one fault is one finding, two faults are two."""

from dataclasses import replace

from harness.conformance.catalogue import load_catalogue
from harness.conformance.findings import find, shape
from harness.conformance.reports.summary import summary_lines
from harness.conformance.verdict import (
    ABOUT,
    BOOT,
    DECIDED_LAST,
    DECIDED_WRONGLY,
    FRAME_POINTER,
    HALF_DONE,
    OTHERS_DATA,
    REACH,
    REFUSAL,
    UNLOADED,
    WROTE,
    WROTE_OTHERS,
    ClauseResult,
    Failure,
    Layer,
    Place,
    PortLine,
    Report,
    Verdict,
)

ORDER = [clause.id for clause in load_catalogue().clause]

LOAD = Place("_mcount", "mcount.S", 172, 0x80101000, "lw $a1, 32($sp)", "wrote a1 last")
OTHER = replace(LOAD, function="return_to_handler", line=283, instruction="move $ra, $v0")

MAKE_CALL, UPDATE = "ftrace_make_call", "ftrace_update_ftrace_func"

BOTH = frozenset({"function", "graph"})


def failure(check, message, layer, variant="dynamic", **more):
    return Failure(
        check, variant, message, {"registers": {"a1": "0x1 -> 0x2"}}, layer=layer, **more
    )


LOST = failure("a-call", "a traced call of leaf: args changed: a1", Layer.CALL, place=LOAD)
EVENTS = failure("events", "the events are not the calls", Layer.WORKLOAD, used=BOTH)


def found(*told):
    return [(one.clause, one.blocks) for one in find(told, ORDER)]


def test_failures_from_one_place_are_one_finding():
    graph = replace(LOST, check="a-hijacked-call", message="something else", variant="static")
    assert found(("C1a", LOST), ("C4c", graph)) == [("C1a", ["C4c"])]


def test_a_place_that_an_experiment_has_shown_is_told_before_a_guess():
    guess = replace(LOST, place=replace(LOAD, how=f"{DECIDED_LAST} about it"))
    shown = replace(LOST, check="another", place=replace(OTHER, how=DECIDED_WRONGLY))
    [finding] = find((("C4d", guess), ("C4d", shown)), ORDER)
    assert finding.place == shown.place
    [finding] = find((("C4d", LOST), ("C4d", shown)), ORDER)
    assert finding.place == LOST.place


def test_an_instruction_of_a_macro_is_one_finding_wherever_it_is_used():
    other = failure("static", "the guest panicked", Layer.CALL, "static", died=True)
    dynamic = replace(LOST, place=replace(LOAD, macro="restore_all"))
    static = replace(other, place=replace(OTHER, instruction=LOAD.instruction))
    assert found(("C1a", dynamic), ("C4b", static)) == [("C1a", []), ("C4b", [])]
    static = replace(static, place=replace(static.place, macro="restore_all"))
    assert found(("C1a", dynamic), ("C4b", static)) == [("C1a", ["C4b"])]
    # Its other instructions may be wrong too.
    static = replace(static, place=replace(static.place, instruction=OTHER.instruction))
    assert found(("C1a", dynamic), ("C4b", static)) == [("C1a", []), ("C4b", [])]
    # The target of a branch to itself is another one in each place.
    dynamic, static = (
        replace(one, place=replace(one.place, instruction=f"b #{address}"))
        for one, address in ((dynamic, "0x4020d368"), (static, "0x4020cd1c"))
    )
    assert found(("C1a", dynamic), ("C4b", static)) == [("C1a", ["C4b"])]


def test_what_two_calls_say_alike_is_one_finding():
    one = failure("a", "a traced call of leaf: ip is not the call site", Layer.CALL)
    other = failure("b", "a hijacked call of f.2 that is traced too: ip is not the call site", 2)
    assert found(("C2a", one), ("C2a", replace(other, layer=Layer.CALL))) == [("C2a", [])]


def test_many_sites_with_one_deviation_are_one_finding():
    told = [("M4a", failure("text", f"f{n}: no nop", Layer.PATCHING)) for n in range(343)]
    assert found(*told) == [("M4a", [])]


def test_a_workload_follows_from_a_call_on_its_way():
    assert found(("C4g", EVENTS), ("C1a", LOST)) == [("C1a", ["C4g"])]


def test_a_workload_does_not_follow_from_a_call_on_another_way():
    """The graph tracer was on when the call went wrong, and the workload is without it."""
    graph = replace(LOST, used=frozenset({"graph"}))
    events = replace(EVENTS, used=frozenset({"function"}))
    assert found(("C4c", graph), ("C8e", events)) == [("C4c", []), ("C8e", [])]


def test_a_workload_does_not_follow_from_what_an_unwinder_sees():
    trace = failure("a-call", "a traced call of leaf: an unwinder ends", Layer.CALL)
    later = replace(EVENTS, check="stack-traces", message="20 of 20 traces are wrong")
    assert found(("C14b", trace), ("C4g", EVENTS), ("C12b", later)) == [
        ("C14b", ["C12b"]),
        ("C4g", []),
    ]


def test_a_workload_does_not_follow_from_another_build():
    static = replace(EVENTS, variant="static")
    assert found(("C1a", LOST), ("C4g", static)) == [("C1a", []), ("C4g", [])]
    modules = replace(EVENTS, variant="modules")
    assert found(("C1a", LOST), ("C4g", modules)) == [("C1a", ["C4g"])]


def test_patching_explains_only_what_an_experiment_has_shown():
    patching = failure("text", "the slot is not cleared", Layer.PATCHING)
    assert found(("C10a", patching), ("C4g", EVENTS)) == [("C10a", []), ("C4g", [])]
    shown = replace(EVENTS, cause=("C10a", patching))
    assert found(("C10a", patching), ("C4g", shown)) == [("C10a", ["C4g"])]


def test_two_faults_are_two_findings():
    home = failure("home", "a hijacked call of leaf: results changed: v1", Layer.CALL, place=OTHER)
    assert found(("C1a", LOST), ("C5a", home), ("C4g", EVENTS)) == [("C1a", ["C4g"]), ("C5a", [])]


def test_a_guest_that_never_boots_is_one_finding():
    dead = [
        (clause, failure(check, "the guest panicked", layer, died=True, about=BOOT))
        for clause, check, layer in (
            ("C7a", "table", Layer.IMAGE),
            ("C9a", "text", Layer.PATCHING),
            ("C1a", "a-call", Layer.CALL),
            ("C4g", "events", Layer.WORKLOAD),
        )
    ]
    assert found(*dead) == [("C9a", ["C1a", "C4g", "C7a"])]
    first = failure("the-first-call-at-boot", "a call of main: saved changed: sp", Layer.CALL)
    [finding] = find([*dead, ("C8d", first)], ORDER)
    assert finding.clause == "C8d"
    assert len(finding.blocks) == 4


def test_the_shape_of_a_message_has_no_names_and_numbers():
    assert shape("leaf: 3 of 0x80 changed") == "# of # changed"
    assert shape("a call of leaf with the site off came to x") == "came to x"
    assert shape("the first call of the workload: args changed: a1") == "args changed: a1"
    assert shape("static without FEATURE, OTHER: a call of leaf came to x") == "came to x"


def test_the_calls_that_led_there_stand_behind_a_place():
    callers = PortLine("ftrace.c", 104), PortLine("ftrace.c", 160)
    place = replace(LOAD, function="write", file="ftrace.c", line=57, how=WROTE, callers=callers)
    found = find([("C9b", replace(LOST, place=place))], ORDER)
    failures = [one for _, one in found[0].failures]
    results = [ClauseResult("C9b", "title", Verdict.FAIL, failures=failures)]
    lines = summary_lines(Report("mips-malta", "mine", results, findings=found), ["harness"])
    assert any(
        line.startswith("   ftrace.c:57, write: ")
        and line.endswith(" wrote the code last; called at ftrace.c:104, ftrace.c:160")
        for line in lines
    )


def test_the_summary_fits_on_a_screen():
    told = [
        ("C1a", replace(LOST, place=replace(LOAD, line=line), message=f"m{chr(line)}"))
        for line in range(97, 117)
    ]
    results = [ClauseResult("C1a", "title", Verdict.FAIL, failures=[f for _, f in told])]
    report = Report("mips-malta", "mine", results, findings=find(told, ORDER))
    lines = list(summary_lines(report, ["harness", "conform"], "/tmp/report.txt"))
    assert lines[0] == "mips-malta, port mine: 20 findings"
    assert "   mcount.S:97, _mcount: `lw $a1, 32($sp)` wrote a1 last" in lines
    assert "   repeat: harness conform -c mips-malta --clause C1a" in lines
    assert "and 12 more, in the report" in lines
    assert lines[-1] == "full report: /tmp/report.txt"
    assert len(lines) < 60


def test_sites_and_slots_that_go_wrong_in_one_line_are_one_finding():
    made = replace(LOAD, function="encode", file="ftrace.c", line=40, how="made the word")
    site = failure("text", "leaf: wrong call", Layer.PATCHING, place=made, patching=MAKE_CALL)
    slot = failure("slot", "no call of it", Layer.PATCHING, place=made, patching=UPDATE)
    assert found(("C9b", site), ("C10a", slot)) == [("C9b", ["C10a"])]


def test_a_store_that_all_patching_functions_use_joins_no_findings():
    wrote = replace(LOAD, function="write", file="ftrace.c", line=50, how=WROTE)
    site = failure("text", "leaf: wrong call", Layer.PATCHING, place=wrote, patching=MAKE_CALL)
    slot = failure("slot", "no call of it", Layer.PATCHING, place=wrote, patching=UPDATE)
    assert found(("C9b", site), ("C10a", slot)) == [("C9b", []), ("C10a", [])]


def test_a_store_that_is_wrong_in_itself_is_one_finding():
    wrote = replace(LOAD, function="write", file="ftrace.c", line=50, how=WROTE)
    steps = "stores-and-maintenance"
    site = failure(steps, "the word was else", Layer.PATCHING, place=wrote, patching=MAKE_CALL)
    slot = replace(site, message="no call of it", patching=UPDATE)
    assert found(("C9j", site), ("C10c", slot)) == [("C9j", ["C10c"])]
    assert found(("C9k", site), ("C9k", slot)) == [("C9k", [])]
    elsewhere = replace(slot, place=replace(wrote, line=90))
    assert found(("C9j", site), ("C10c", elsewhere)) == [("C9j", []), ("C10c", [])]


def test_a_range_that_both_have_asked_for_in_one_line_is_one_finding():
    asked = replace(LOAD, function="encode", file="ftrace.c", line=36, how="asked last")
    site = failure("far", "0x8 is out", 1, place=asked, patching=MAKE_CALL, about=REACH)
    site = replace(site, layer=Layer.PATCHING)
    slot = replace(site, message="a tracer", patching=UPDATE)
    assert found(("C9g", site), ("C10d", slot)) == [("C9g", ["C10d"])]


def test_an_nmi_sees_what_patching_writes_without_one():
    nmi = failure("an-nmi-while-a-site-is-patched", "the guest panicked", 3, died=True)
    nmi = replace(nmi, layer=Layer.WORKLOAD)
    torn = failure("steps", "it was something else", Layer.PATCHING, patching=MAKE_CALL)
    assert found(("C9j", torn), ("C17b", nmi)) == [("C9j", ["C17b"])]
    slot = replace(torn, patching=UPDATE)
    assert found(("C10c", slot), ("C17b", nmi)) == [("C10c", []), ("C17b", [])]


def test_a_call_without_a_tracer_executes_the_words_that_boot_has_left():
    words = failure("text-after-boot", "leaf: a word is no nop", Layer.PATCHING)
    call = failure("a-site-without-a-tracer", "status changed: fpsr", Layer.CALL)
    assert found(("C9a", words), ("C3c", call)) == [("C9a", ["C3c"])]
    traced = replace(call, used=BOTH)
    assert found(("C9a", words), ("C1a", traced)) == [("C9a", []), ("C1a", [])]


def test_wrong_words_tell_more_than_the_error_that_they_lead_to():
    refused = failure("slot", "the tracer was refused", Layer.PATCHING, place=LOAD)
    words = replace(refused, check="text", message="no nop", evidence={"found": ["0x8: udf"]})
    assert found(("C10a", refused), ("C9a", words)) == [("C9a", ["C10a"])]
    slot = replace(words, patching=UPDATE)
    site = replace(words, place=None, patching=MAKE_CALL, cause=("C10a", slot))
    assert found(("C10a", slot), ("C9a", site)) == [("C9a", ["C10a"])]


def test_an_edge_that_is_written_wrong_is_no_refusal():
    """One clause is about both: what is refused beyond the edge, and the last word within it."""
    wrong = failure("far", "a call of 0x8 became something else", 1, patching=MAKE_CALL)
    edge, refused = (replace(wrong, layer=Layer.PATCHING, about=what) for what in ("", REFUSAL))
    assert found(("C9g", edge), ("C9b", edge)) == [("C9g", ["C9b"])]
    kept = replace(refused, message="0x9 was accepted", patching=UPDATE)
    assert found(("C9b", edge), ("C10d", kept)) == [("C9b", []), ("C10d", [])]


def test_what_is_refused_after_a_store_is_another_fault_than_what_is_accepted():
    taken = failure("sites", "junk was accepted", 1, patching=MAKE_CALL, about=REFUSAL)
    taken = replace(taken, layer=Layer.PATCHING)
    half = replace(taken, message="it returned -22 and wrote", about=HALF_DONE)
    assert found(("C9e", taken), ("C22e", half)) == [("C9e", []), ("C22e", [])]
    assert found(("C22e", half), ("C9e", taken)) == [("C22e", []), ("C9e", [])]
    words = replace(taken, message="no nop", about="")
    assert found(("C9a", words), ("C22e", half)) == [("C9a", ["C22e"])]


def test_a_hint_joins_no_findings():
    """The entry of the function that a clause is about says nothing of the cause."""
    hint = replace(LOAD, function="prepare_ftrace_return", how=ABOUT)
    one = failure("a-call", "a hijacked call of leaf: func is wrong", Layer.CALL, place=hint)
    other = failure("a-call", "a hijacked call of leaf: retp is wrong", Layer.CALL, place=hint)
    assert found(("C4e", one), ("C12a", other)) == [("C4e", []), ("C12a", [])]
    assert find([("C4e", one)], ORDER)[0].place == hint
    known = replace(one, check="another", place=LOAD)
    assert find([("C4e", one), ("C4e", known)], ORDER)[0].place == LOAD


def test_a_module_that_is_not_loaded_is_one_finding():
    message = "load_module() of the module callbacks returned -34"
    sites = failure("module-sites-are-off", message, Layer.PATCHING, died=True, about=UNLOADED)
    events = failure("events-of-modules", message, Layer.WORKLOAD, died=True, about=UNLOADED)
    assert found(("C7f", sites), ("C4g", events)) == [("C7f", ["C4g"])]


def test_sites_that_cannot_be_written_are_those_of_modules_too():
    words = failure("switching-every-site", "f: the site is no nop", Layer.PATCHING)
    message = "load_module() of the module callbacks returned -34"
    sites = failure("module-sites-are-off", message, Layer.PATCHING, died=True, about=UNLOADED)
    events = failure("events-of-modules", message, Layer.WORKLOAD, died=True, about=UNLOADED)
    assert found(("C9a", words), ("C7f", sites), ("C4g", events)) == [("C9a", ["C4g", "C7f"])]


def test_a_panic_about_frame_pointers_is_for_their_clause():
    """It is seen before another clause can be judged."""
    panic = failure("home", "the guest panicked", Layer.CALL, died=True, about=FRAME_POINTER)
    later = replace(panic, check="events", layer=Layer.WORKLOAD)
    assert found(("C4d", panic), ("C4d", later), ("C6b", later)) == [("C6b", ["C4d"])]
    message = "a hijacked call of leaf: the frame pointer on the way out is another one"
    compared = failure("home", message, Layer.CALL, "static", place=OTHER, about=FRAME_POINTER)
    assert found(("C4d", panic), ("C6b", compared)) == [("C6b", ["C4d"])]


def test_the_panic_about_a_frame_pointer_that_calls_have_changed_so_follows():
    changed = replace(LOST, evidence={"registers": {"fp": "0x800fffb0 -> 0x800fff90"}})
    seen = "Bad frame pointer: expected 0x800fffb0, received 0x800fff90; the function called at 0x0"
    panic = failure("home", "wrong", Layer.CALL, died=True, place=OTHER, about=FRAME_POINTER)
    panic = replace(panic, evidence={"guest": seen})
    assert found(("C8f", changed), ("C6b", panic)) == [("C8f", ["C6b"])]
    other = replace(panic, evidence={"guest": seen.replace("ff90", "ff98")})
    assert found(("C8f", changed), ("C6b", other)) == [("C8f", []), ("C6b", [])]


def test_an_unwinder_that_comes_to_the_wrong_word_that_the_tracer_gets_follows():
    given = {"expected": {"parent_ip": "0x60ea93"}, "found": {"parent_ip": "0x15c06b15"}}
    tracer = replace(LOST, message="parent_ip is not the return address", evidence=given)
    rows = {"expected": ["leaf+0x5", "main+0x13"], "found": ["leaf+0x5", "0x15c06b15"]}
    unwinder = failure("a-call", "an unwinder does not come there", Layer.CALL, place=OTHER)
    unwinder = replace(unwinder, evidence=rows)
    assert found(("C2b", tracer), ("C14b", unwinder)) == [("C2b", ["C14b"])]
    other = replace(unwinder, evidence={**rows, "found": ["leaf+0x5", "0x178e0000"]})
    assert found(("C2b", tracer), ("C14b", other)) == [("C2b", []), ("C14b", [])]
    # Another wrong word beside it has another cause.
    both = replace(unwinder, evidence={**rows, "found": ["0x178e0000", "0x15c06b15"]})
    assert found(("C2b", tracer), ("C14b", both)) == [("C2b", []), ("C14b", [])]
    # Of other clauses that see the same words nothing is known.
    assert found(("C2b", tracer), ("C4e", unwinder)) == [("C2b", []), ("C4e", [])]


def test_a_patching_function_that_does_not_end_is_one_finding():
    message = "the guest did not come to workload_done"
    hang = failure("sites", message, Layer.PATCHING, died=True, patching=MAKE_CALL)
    stores = replace(hang, check="stores-and-maintenance")
    assert found(("C9b", hang), ("C9k", stores)) == [("C9b", ["C9k"])]
    other = replace(stores, patching=UPDATE)
    assert found(("C9b", hang), ("C9k", other)) == [("C9b", []), ("C9k", [])]


def test_a_death_that_follows_in_one_build_follows_in_all():
    panic = failure("events", "the guest panicked", Layer.WORKLOAD, died=True, used=BOTH)
    static = replace(panic, variant="static")
    assert found(("C1a", LOST), ("C1j", panic), ("C1j", static)) == [("C1a", ["C1j"])]
    assert found(("C1a", LOST), ("C1j", static)) == [("C1a", []), ("C1j", [])]


def test_what_follows_shows_the_way_in_another_build():
    """A build of another kind, of which one failure has this cause, has it for others too."""
    hang = failure("open-calls", "the guest did not come home", Layer.WORKLOAD, used=BOTH)
    static = replace(EVENTS, variant="static")
    other = replace(static, check="prologues", message="the events are wrong in another way")
    told = [("C4d", hang), ("C4d", EVENTS), ("C4d", static), ("C4i", other)]
    assert found(*told) == [("C4d", ["C4i"])]
    assert found(("C4d", hang), ("C4i", other)) == [("C4d", []), ("C4i", [])]


def test_whatever_shows_that_a_stopped_tracer_is_called_is_one_finding():
    one = failure("idle", "a call of leaf came to the tracer", Layer.CALL, place=LOAD)
    other = failure("idle", "a call of leaf: ra is another one", Layer.CALL, place=OTHER)
    events = failure("stops", "473 events with function_trace_stop 0x1", Layer.WORKLOAD)
    assert found(*(("C16a", told) for told in (one, other, events))) == [("C16a", [])]


def test_the_way_without_a_tracer_is_long_if_it_leads_to_one():
    graph = failure("idle", "a call of leaf came to the graph tracer", Layer.CALL, place=LOAD)
    stored = failure("way", "something is stored", Layer.CALL)
    steps = failure("way", "125 instructions from the call to its return", Layer.CALL)
    told = [("C3d", stored), ("C3d", steps)]
    assert found(("C4b", graph), *told) == [("C4b", ["C3d"])]
    assert found(*told) == [("C3d", [])]
    traced = replace(graph, used=frozenset({"function"}))
    assert found(("C4b", traced), *told) == [("C4b", []), ("C3d", [])]


def test_whatever_reaches_the_graph_tracer_that_is_off_is_one_finding():
    one = failure("idle", "a call of leaf came to function_graph_enter", Layer.CALL, place=LOAD)
    other = failure("traced", "a traced call of leaf came to it", Layer.CALL, place=OTHER)
    assert found(("C4b", one), ("C4b", other)) == [("C4b", [])]


def test_a_condition_that_is_tested_the_wrong_way_round_is_one_finding():
    """With the flag the tracer is called, and without it, it is not."""
    stopped = failure("idle", "a call came to the tracer", Layer.CALL, "static-stop", place=LOAD)
    never = replace(stopped, message="a traced call came 0 times to the tracer", place=OTHER)
    assert found(("C16a", stopped), ("C3b", never)) == [("C16a", ["C3b"])]
    later = replace(stopped, variant="modules", layer=Layer.WORKLOAD)
    assert found(("C3b", never), ("C16a", stopped), ("C16a", later)) == [("C3b", ["C16a"])]
    everywhere = replace(never, variant="static")
    told = [("C16a", stopped), ("C3b", never), ("C3b", everywhere)]
    assert found(*told) == [("C16a", []), ("C3b", [])]


def test_a_guest_with_modules_dies_of_calls_that_are_written_wrong():
    far = failure("far", "0x8 is out", Layer.PATCHING, patching=MAKE_CALL, about=REACH)
    panic = failure("graph-of-modules", "the guest panicked", 5, "modules", died=True)
    panic = replace(panic, layer=Layer.WORKLOAD)
    refused = replace(panic, layer=Layer.PATCHING, message="returned -22", about=UNLOADED)
    assert found(("C9g", far), ("C7f", panic)) == [("C9g", ["C7f"])]
    assert found(("C9g", far), ("C7f", refused)) == [("C9g", ["C7f"])]
    slot = replace(far, patching=UPDATE)
    assert found(("C10d", slot), ("C7f", panic)) == [("C10d", []), ("C7f", [])]
    wrong = replace(panic, died=False, message="no events")
    assert found(("C9g", far), ("C7f", wrong)) == [("C9g", []), ("C7f", [])]


def test_modules_whose_calls_go_elsewhere_make_no_events():
    sites = failure("switching-module-sites", "f: no call", 1, "modules", patching=MAKE_CALL)
    sites = replace(sites, layer=Layer.PATCHING)
    events = failure("events-of-modules", "0 events of 34", Layer.WORKLOAD, "modules")
    assert found(("C7f", sites), ("C8e", events)) == [("C7f", ["C8e"])]
    for build in "dynamic", "static-modules":
        other = replace(events, variant=build)
        assert found(("C7f", sites), ("C8e", other)) == [("C7f", []), ("C8e", [])]


def test_guests_with_modules_that_die_are_one_finding():
    """Without a place there is nothing that tells the second from the first."""
    panic = failure("events-of-modules", "the guest panicked", 5, "modules", died=True, used=BOTH)
    panic = replace(panic, layer=Layer.WORKLOAD)
    parked = replace(panic, check="parked", used=frozenset())
    assert found(("C2a", panic), ("C9i", parked)) == [("C2a", ["C9i"])]


def test_a_store_to_other_data_is_one_finding():
    wrote = replace(LOAD, function="write", file="ftrace.c", line=50, how=WROTE_OTHERS)
    site = failure("steps", "data has changed", 1, place=wrote, patching=MAKE_CALL)
    site = replace(site, layer=Layer.PATCHING, about=OTHERS_DATA)
    slot = replace(site, patching=UPDATE)
    assert found(("C9d", site), ("C10b", slot)) == [("C9d", ["C10b"])]
    elsewhere = replace(slot, place=replace(wrote, line=90))
    assert found(("C9d", site), ("C10b", elsewhere)) == [("C9d", []), ("C10b", [])]


def test_with_a_wrong_thread_pointer_c_code_does_anything():
    pointer = failure("a-call", "fixed changed: gp", Layer.CALL, place=LOAD)
    lost = failure("home", "it did not come to the handler", Layer.CALL, place=OTHER, used=BOTH)
    assert found(("C1g", pointer), ("C4d", lost)) == [("C1g", ["C4d"])]
    assert found(("C1f", pointer), ("C4d", lost)) == [("C1f", []), ("C4d", [])]
    static = replace(lost, variant="static")
    assert found(("C1g", pointer), ("C4d", static)) == [("C1g", []), ("C4d", [])]


def test_a_refused_call_that_is_hijacked_is_no_matter_of_frame_pointers():
    check = "a-call-that-the-graph-tracer-refuses"
    refused = failure(check, "the guest panicked", 2, died=True, place=OTHER, about=FRAME_POINTER)
    refused = replace(refused, layer=Layer.CALL)
    later = replace(refused, check="events", layer=Layer.WORKLOAD, place=None)
    assert found(("C4f", refused), ("C6b", later)) == [("C4f", ["C6b"])]
    # Of a guest that does not boot that check says no more than others.
    dead = replace(refused, about=BOOT, place=None)
    boot = replace(dead, check="a-site-without-a-tracer")
    assert found(("C4f", dead), ("C3c", boot)) == [("C3c", ["C4f"])]


def test_a_trampoline_that_the_kernel_finds_by_a_wrong_site_is_left_out():
    site = failure("a-call", "a traced call of leaf: ip is not the call site", Layer.CALL)
    left_out = failure("after-a-tracer", "a call of leaf: it was left out", Layer.CALL)
    assert found(("C2a", site), ("C23b", left_out)) == [("C2a", ["C23b"])]
    assert found(("C2b", site), ("C23b", left_out)) == [("C2b", []), ("C23b", [])]


def test_what_another_clause_presupposes_comes_first():
    """The kernel compares frame pointers that it reads by the accessor of C18c."""
    differs = failure("way-home", "a hijacked call of leaf: another frame pointer", Layer.CALL)
    accessor = failure("given", "a call of leaf: the frame pointer in fregs", Layer.CALL)
    assert found(("C6b", differs), ("C18c", accessor)) == [("C18c", ["C6b"])]
    assert found(("C6b", differs), ("C18d", accessor)) == [("C6b", []), ("C18d", [])]
