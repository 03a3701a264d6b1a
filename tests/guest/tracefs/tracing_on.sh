# Without tracing_on nothing is recorded.
. "$(dirname "$0")/functions"
echo function > current_tracer
until_some step_one
echo 0 > tracing_on
[ "$(cat tracing_on)" = 0 ] || fail "it is $(cat tracing_on)"
# As in the kernel, an event that has passed the check of it is still recorded.
sleep 0.5
echo > trace
sleep 1
[ "$(events .)" -eq 0 ] || fail "$(events .) events while it was off"
echo 1 > tracing_on
until_some step_one
echo maybe > tracing_on 2> /dev/null && fail "maybe is no number"
clean
