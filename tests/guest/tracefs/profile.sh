# Calls are counted while the profiler is on, of the functions of the filter.
. "$(dirname "$0")/functions"
needs function_profile_enabled trace_stat/function0
[ "$(cat function_profile_enabled)" = 0 ] || fail "it is on"
echo 'step_*' > set_ftrace_filter
echo 1 > function_profile_enabled || fail "on"
[ "$(cat function_profile_enabled)" = 1 ] || fail "it is not on"
hits() {
	cat trace_stat/function* | awk -v name="$1" '$1 == name { sum += $2 } END { print sum + 0 }'
}
more() {
	[ "$(hits step_one)" -gt "$1" ]
}
eventually more 0 || fail "no hits: $(cat trace_stat/function0)"
one=$(hits step_one)
head -n 2 trace_stat/function0 | grep -q '^  Function  *Hit  *Time  *Avg  *s^2$' || fail "its head"
# If it begins inside of step_two, step_one has a line some time before step_two is called again.
a_line() {
	grep -q '^  step_two  *[0-9]*  *[0-9.]* us  *[0-9.]* us  *[0-9.]* us *$' trace_stat/function*
}
eventually a_line || fail "a line: $(cat trace_stat/function*)"
[ "$(cat trace_stat/function* | grep -vc 'step_\|Function\|---')" -eq 0 ] || fail "others"
{ echo function_graph > current_tracer; } 2> /dev/null && fail "both use the same callbacks"
eventually more "$one" || fail "no more hits"
echo 0 > function_profile_enabled
one=$(hits step_one)
sleep 1
[ "$(hits step_one)" -eq "$one" ] || fail "hits while it is off"
{ echo 2 > function_profile_enabled; } 2> /dev/null && fail "2 is no switch"
clean
