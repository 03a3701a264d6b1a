# Functions and events of the threads in the notrace lists are left out.
. "$(dirname "$0")/functions"
needs set_ftrace_notrace_pid set_event_notrace_pid
[ "$(cat set_ftrace_notrace_pid)" = "no pid" ] || fail "$(cat set_ftrace_notrace_pid)"
echo 77 > set_ftrace_notrace_pid
echo function > current_tracer
until_some step_one
echo 1 >> set_ftrace_notrace_pid
[ "$(wc -l < set_ftrace_notrace_pid)" -eq 2 ] || fail "$(cat set_ftrace_notrace_pid)"
echo > trace
sleep 1
[ "$(events 'workload-1 ')" -eq 0 ] || fail "$(events 'workload-1 ') events of the thread 1"
echo x > set_ftrace_notrace_pid 2> /dev/null && fail "x is no pid"
echo > set_ftrace_notrace_pid
echo 5 > set_event_notrace_pid
[ "$(cat set_event_notrace_pid)" = 5 ] || fail "$(cat set_event_notrace_pid)"
[ "$(cat set_event_pid)" = "no pid" ] || fail "$(cat set_event_pid)"
echo > set_event_notrace_pid
until_some step_one
clean
