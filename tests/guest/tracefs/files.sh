# Files that are only read, that are not there, and that nobody can make.
. "$(dirname "$0")/functions"
for file in $(find . -type f -perm -u+r ! -name 'trace_pipe*'); do
	cat "$file" > /dev/null || fail "$file"
done
[ "$(cat events/sched/sched_switch/id)" -gt 0 ] || fail "the id of sched_switch"
grep -q '^name: sched_switch$' events/sched/sched_switch/format || fail "its format"
echo 1 > events/sched/sched_switch/enable
[ "$(cat events/sched/enable)" = 1 ] || fail "it is not enabled"
[ "$(cat set_event)" = sched:sched_switch ] || fail "$(cat set_event)"
{ echo 1 > available_tracers; } 2> "$SCRATCH/error"
grep -q 'Invalid argument' "$SCRATCH/error" || fail "$(cat "$SCRATCH/error")"
{ echo 1 > no_file; } 2> "$SCRATCH/error"
grep -q 'Permission denied' "$SCRATCH/error" || fail "$(cat "$SCRATCH/error")"
cat no_file 2> "$SCRATCH/error"
grep -q 'No such file' "$SCRATCH/error" || fail "$(cat "$SCRATCH/error")"
rm -f trace 2> /dev/null
[ -e trace ] || fail "trace was removed"
before=$(cat buffer_size_kb)
echo 64 > buffer_size_kb
[ "$(cat per_cpu/cpu0/buffer_size_kb)" = 64 ] || fail "$(cat per_cpu/cpu0/buffer_size_kb)"
echo "$before" > buffer_size_kb
clean
