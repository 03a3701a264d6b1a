# Only functions of the filter are traced; ! removes one, > alone all.
. "$(dirname "$0")/functions"
needs set_ftrace_filter available_filter_functions
echo 'step_*' > set_ftrace_filter || fail "the filter"
[ "$(grep -c step_ set_ftrace_filter)" -eq 2 ] || fail "$(cat set_ftrace_filter)"
echo function > current_tracer
until_some step_two
[ "$(events -v step_)" -eq 0 ] || fail "others: $(events -v step_)"
echo '!step_two' >> set_ftrace_filter
[ "$(cat set_ftrace_filter)" = step_one ] || fail "$(cat set_ftrace_filter)"
echo > trace
until_some step_one
[ "$(events 'step_two <-')" -eq 0 ] || fail "step_two was removed"
echo no_function_of_this_name > set_ftrace_filter 2> /dev/null && fail "no such function"
grep step_ available_filter_functions > set_ftrace_filter || fail "a list"
[ "$(wc -l < set_ftrace_filter)" -eq 2 ] || fail "$(cat set_ftrace_filter)"
: > set_ftrace_filter
grep -q 'all functions enabled' set_ftrace_filter || fail "> clears it"
echo step_two > set_ftrace_notrace
echo > trace
until_some step_one
[ "$(events 'step_two <-')" -eq 0 ] || fail "step_two is not to be traced"
clean
