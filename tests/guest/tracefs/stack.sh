# The deepest stack has the functions that are active, and its size.
. "$(dirname "$0")/functions"
needs stack_trace stack_max_size stack_trace_filter stack_tracer_enabled
grep -q 'Depth    Size   Location    (0 entries)' stack_trace || fail "$(cat stack_trace)"
grep -q 'disabled' stack_trace || fail "$(cat stack_trace)"
[ "$(cat stack_max_size)" = 0 ] || fail "$(cat stack_max_size)"
echo step_one > stack_trace_filter || fail "the filter"
[ "$(cat stack_trace_filter)" = step_one ] || fail "$(cat stack_trace_filter)"
echo 1 > stack_tracer_enabled || fail "on"
found() {
	[ "$(cat stack_max_size)" -gt 0 ]
}
eventually found || fail "nothing was found"
sleep 1
size=$(cat stack_max_size)
grep -q "^  0) *$size  *[0-9]*  *step_one+0x[0-9a-f]*/0x[0-9a-f]*\$" stack_trace || fail "$(cat stack_trace)"
grep -q '^  1) .* step_two+0x' stack_trace || fail "$(cat stack_trace)"
grep -q ' workload+0x' stack_trace || fail "$(cat stack_trace)"
echo 0 > stack_max_size
sleep 1
[ "$(cat stack_max_size)" = "$size" ] || fail "it is $(cat stack_max_size) and was $size"
{ echo no > stack_max_size; } 2> /dev/null && fail "no is no number"
echo 0 > stack_tracer_enabled
: > stack_trace_filter
grep -q 'all functions enabled' stack_trace_filter || fail "> clears it"
[ -z "$(cat enabled_functions)" ] || fail "$(cat enabled_functions)"
clean
