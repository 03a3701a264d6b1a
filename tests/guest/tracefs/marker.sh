# A text that is written to trace_marker is an event, in order with the others; not while tracing is off.
. "$(dirname "$0")/functions"
needs trace_marker
echo 'step_*' > set_ftrace_filter
echo function > current_tracer
until_some step_two
echo 'the first  mark' > trace_marker || fail "the first"
step_is_last() {
	tail -n 1 trace | grep -q step_
}
eventually step_is_last || fail "no step after the first"
echo 'the second mark' > trace_marker || fail "the second"
env printf 'one\ntwo' > trace_marker || fail "two lines"
eventually step_is_last || fail "no step after the last"
grep -q 'workload-1 .*: tracing_mark_write: the first  mark$' trace || fail "$(grep mark trace)"
[ "$(events mark_write:)" -eq 3 ] || fail "$(events mark_write:) marks"
order=$(grep -v '^#' trace | sed -n 's/.*: tracing_mark_write: the \([a-z]*\) *mark/\1/p; s/.*step_.*/step/p' | uniq | tr '\n' ' ')
[ "$order" = "step first step second step " ] || fail "$order"
head -c 3000 /dev/zero | tr '\0' x > trace_marker || fail "a long text"
[ "$(events xxxxxxxx)" -ge 3 ] || fail "$(events xxxxxxxx) parts of a long text"
echo 0 > tracing_on
{ echo 'nothing' > trace_marker; } 2> "$SCRATCH/error" && fail "it is off"
grep -q 'Bad file descriptor' "$SCRATCH/error" || fail "$(cat "$SCRATCH/error")"
grep -q '^trace_marker: error' error_log || fail "$(cat error_log)"
{ cat trace_marker; } 2> /dev/null && fail "it cannot be read"
clean
