# The mask of CPUs is shown and set in hexadecimal; what is none is refused.
. "$(dirname "$0")/functions"
needs tracing_cpumask per_cpu/cpu0/trace
every=$(cat tracing_cpumask)
case $every in 1 | 3 | f) ;; *) fail "it is $every" ;; esac
echo 'step_*' > set_ftrace_filter
echo function > current_tracer
until_some step_one
echo 0 > tracing_cpumask || fail "no CPU"
[ "$(cat tracing_cpumask)" = 0 ] || fail "it is $(cat tracing_cpumask)"
sleep 1
echo > trace
sleep 1
[ "$(events step_)" -eq 0 ] || fail "events without a CPU"
echo 1 > tracing_cpumask
sleep 1
[ "$(events -v '\[000\]')" -eq 0 ] || fail "events of another CPU: $(events -v '\[000\]')"
for wrong in g 0x1 1,,1 100 '' -1 123456789; do
	{ echo "$wrong" > tracing_cpumask; } 2> "$SCRATCH/error" && fail "accepted: $wrong"
	grep -q 'Invalid argument' "$SCRATCH/error" || fail "$(cat "$SCRATCH/error")"
done
[ "$(cat tracing_cpumask)" = 1 ] || [ "$(cat tracing_cpumask)" = 01 ] || fail "a refused mask"
echo "$every" > tracing_cpumask
until_some step_one
clean
