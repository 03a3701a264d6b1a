# The graph of one function has its callees and nothing else.
. "$(dirname "$0")/functions"
needs set_graph_function max_graph_depth
echo step_two > set_graph_function || fail "set_graph_function"
echo function_graph > current_tracer
until_some 'step_two() {'
until_some 'step_one();'
[ "$(events 'workload')" -eq 0 ] || fail "its caller"
echo 1 > max_graph_depth
[ "$(cat max_graph_depth)" = 1 ] || fail "it is $(cat max_graph_depth)"
# A call that began before it returns first.
echo nop > current_tracer
sleep 1
echo > trace
echo function_graph > current_tracer
until_some 'step_two();'
[ "$(events step_one)" -eq 0 ] || fail "deeper than 1"
echo 0 > max_graph_depth
clean
