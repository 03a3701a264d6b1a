# A function that was traced once is in touched_functions; without a filter only enabled ones are.
. "$(dirname "$0")/functions"
needs touched_functions
echo step_one > set_ftrace_filter
echo function > current_tracer
grep -qx step_one enabled_functions || fail "enabled: $(cat enabled_functions)"
echo nop > current_tracer
[ -z "$(cat enabled_functions)" ] || fail "enabled: $(head -n 1 enabled_functions)"
grep -qx step_one touched_functions || fail "touched: $(cat touched_functions)"
{ echo > touched_functions; } 2> /dev/null && fail "it is only read"
clean
