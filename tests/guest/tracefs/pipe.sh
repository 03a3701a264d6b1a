# trace_pipe waits, follows, gives each event once, and can be interrupted.
. "$(dirname "$0")/functions"
timeout 1 cat trace_pipe > /dev/null
timeout 1 cat trace_pipe > "$SCRATCH/none"
[ $? -eq 124 ] || fail "it did not wait"
[ ! -s "$SCRATCH/none" ] || fail "events: $(head -n 2 "$SCRATCH/none")"
cat trace_pipe > "$SCRATCH/pipe" &
reader=$!
echo 'step_*' > set_ftrace_filter
echo function > current_tracer
until_some step_two
longer() {
	[ "$(wc -l < "$SCRATCH/pipe")" -gt "$1" ]
}
eventually longer 0 || fail "it is empty"
eventually longer "$(wc -l < "$SCRATCH/pipe")" || fail "it does not follow"
echo nop > current_tracer
kill "$reader"
wait "$reader" 2> /dev/null
cut -c 1-60 "$SCRATCH/pipe" | sort | uniq -d > "$SCRATCH/twice"
[ ! -s "$SCRATCH/twice" ] || fail "twice: $(head -n 1 "$SCRATCH/twice")"
clean
