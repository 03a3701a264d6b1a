# Functions of the threads in set_ftrace_pid only.
. "$(dirname "$0")/functions"
needs set_ftrace_pid
[ "$(cat set_ftrace_pid)" = "no pid" ] || fail "$(cat set_ftrace_pid)"
echo 77 > set_ftrace_pid
echo function > current_tracer
sleep 1
[ "$(events .)" -eq 0 ] || fail "$(events .) events of other threads"
echo 1 >> set_ftrace_pid
[ "$(tr '\n' ' ' < set_ftrace_pid)" = "1 77 " ] || [ "$(tr '\n' ' ' < set_ftrace_pid)" = "77 1 " ] ||
	fail "$(cat set_ftrace_pid)"
until_some step_one
echo x > set_ftrace_pid 2> /dev/null && fail "x is no pid"
clean
