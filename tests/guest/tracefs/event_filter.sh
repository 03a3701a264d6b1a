# A filter is shown, replaced and removed; a wrong one is refused, and error_log says why.
. "$(dirname "$0")/functions"
filter=events/sched/sched_switch/filter
needs "$filter" events/sched/filter
[ "$(cat $filter)" = none ] || fail "$(cat $filter)"
echo 'prev_pid == 1 && next_comm ~ "idle*"' > $filter || fail "a filter"
[ "$(cat $filter)" = 'prev_pid == 1 && next_comm ~ "idle*"' ] || fail "$(cat $filter)"
wrong() {
	{ echo "$1" > $filter; } 2> "$SCRATCH/error" && fail "accepted: $1"
	grep -q 'Invalid argument' "$SCRATCH/error" || fail "$(cat "$SCRATCH/error")"
	grep -qF "Command: $1" error_log || fail "error_log does not have $1"
}
wrong 'no_field == 1'
wrong 'prev_pid = 1'
wrong 'prev_pid =='
wrong 'prev_pid == x'
wrong 'prev_pid == 1x'
wrong 'prev_pid ~ "1"'
wrong 'prev_comm == 1'
wrong 'prev_comm == sh'
wrong 'prev_comm == "sh'
wrong 'prev_comm < "sh"'
wrong '(prev_pid == 1'
wrong 'prev_pid == 1)'
wrong 'prev_pid == 1 &&'
wrong 'prev_pid == 1 & next_pid == 1'
wrong 'prev_pid == 1 next_pid == 1'
wrong '&& prev_pid == 1'
grep -q 'filter: error: ' error_log || fail "$(cat error_log)"
[ "$(cat $filter)" = 'prev_pid == 1 && next_comm ~ "idle*"' ] || fail "a refused one: $(cat $filter)"
echo 0 > $filter
[ "$(cat $filter)" = none ] || fail "$(cat $filter)"
echo 'next_pid != 5' > events/sched/filter
[ "$(cat $filter)" = 'next_pid != 5' ] || fail "$(cat $filter)"
{ echo 'no_field == 1' > events/sched/filter; } 2> /dev/null && fail "no event has the field"
echo 0 > events/sched/filter
[ "$(cat $filter)" = none ] || fail "$(cat $filter)"
{ echo 'ip == 1' > events/ftrace/function/filter; } 2> /dev/null && fail "tracers have no filter"
clean
