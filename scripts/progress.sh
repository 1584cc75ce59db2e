# How far the long work of a script is, on standard error: for scripts that source this. On a terminal the last line
# changes, otherwise there is a line now and then: every 10 seconds, or as many as TILEIRAS_PROGRESS says; with 0 there
# is none. The commands in Rust do the same: src/command/driver/progress.rs.

progress_interval=${TILEIRAS_PROGRESS:-10}
[[ $progress_interval =~ ^[0-9]+(\.[0-9]+)?$ ]] || progress_interval=10
progress_terminal=
if [ -t 2 ]; then progress_terminal=yes; fi
# Seconds that the steps which were announced, and are not done, usually take.
progress_left=0

# progress_expect SECONDS: announces a step.
progress_expect() { progress_left=$((progress_left + $1)); }

# A time as one would say it.
progress_rough() {
    if [ "$1" -lt 90 ]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi
}

progress_is_off() { [[ $progress_interval =~ ^0(\.0*)?$ ]]; }

# A line that the next one replaces, on a terminal.
progress_line() {
    if [ -n "$progress_terminal" ]; then printf '\r\033[K%s' "$1" >&2; else echo "$1" >&2; fi
}

progress_clear() { if [ -n "$progress_terminal" ]; then printf '\r\033[K' >&2; fi; }

# progress_step SECONDS WHAT COMMAND...: does an announced step. Meanwhile it says how long it has been at it, and what is
# left of all steps by how long they usually take. The status is that of the command.
progress_step() {
    local usual=$1 what=$2 status=0 watcher=
    shift 2
    if ! progress_is_off; then
        (
            started=$SECONDS
            pause=${progress_terminal:+1}
            # A pause that leaves no process behind when it is ended: nobody writes to this pipe.
            while ! read -rt "${pause:-$progress_interval}" _ <> <(:); do
                spent=$((SECONDS - started))
                over=$((usual > spent ? usual - spent : 0))
                left=$((progress_left - usual + over))
                progress_line "$what: $(progress_rough "$spent") so far; about $(progress_rough "$left") left"
            done
        ) &
        watcher=$!
    fi
    "$@" || status=$?
    if [ -n "$watcher" ]; then
        kill "$watcher" 2>/dev/null || true
        wait "$watcher" 2>/dev/null || true
        progress_clear
    fi
    progress_left=$((progress_left - usual))
    return "$status"
}

# progress_count WHO DONE TOTAL STARTED: how many parts are done since the second STARTED. Who writes something behind it
# on a terminal begins at the beginning of a line.
progress_said=$SECONDS
progress_count() {
    local spent=$((SECONDS - $4))
    if progress_is_off || [ "$2" = 0 ]; then return; fi
    if [ -n "$progress_terminal" ]; then
        progress_clear
    elif [ $((SECONDS - progress_said)) -lt "${progress_interval%.*}" ]; then
        return
    fi
    progress_said=$SECONDS
    echo "$1: $2 of $3; about $(progress_rough $((spent * ($3 - $2) / $2))) left" >&2
}
