# A second buffer.
. "$(dirname "$0")/functions"
needs instances
mkdir instances/second || fail "mkdir"
