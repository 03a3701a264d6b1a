# Every tracer can be set, and another one is refused.
. "$(dirname "$0")/functions"
for tracer in $(cat available_tracers); do
	echo "$tracer" > current_tracer || fail "$tracer"
	[ "$(cat current_tracer)" = "$tracer" ] || fail "it is $(cat current_tracer)"
	[ "$(head -n 1 trace | cut -c -9)" = "# tracer:" ] || fail "the trace of $tracer"
done
echo nop > current_tracer
echo no_tracer > current_tracer 2> "$SCRATCH/error" && fail "no_tracer is none"
grep -q 'Invalid argument' "$SCRATCH/error" || fail "$(cat "$SCRATCH/error")"
grep -q no_tracer error_log || fail "error_log does not have it"
[ "$(cat current_tracer)" = nop ] || fail "a refused write changed the tracer"
clean
