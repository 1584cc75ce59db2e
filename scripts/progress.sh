# Progress of long work on standard error, for scripts that source this file. On a terminal the last line is updated. Otherwise a
# line is printed every 10 seconds, or every TILEIRAS_PROGRESS seconds; 0 disables all output. src/command/driver/progress.rs does
# the same for the Rust commands.

progress_interval=${TILEIRAS_PROGRESS:-10}
[[ $progress_interval =~ ^[0-9]+(\.[0-9]+)?$ ]] || progress_interval=10
progress_terminal=
if [ -t 2 ]; then progress_terminal=yes; fi
# The usual duration of all announced steps that are not done, in seconds.
progress_left=0

# progress_expect SECONDS: announces a step.
progress_expect() { progress_left=$((progress_left + $1)); }

# A rounded duration.
progress_rough() {
    if [ "$1" -lt 90 ]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi
}

progress_is_off() { [[ $progress_interval =~ ^0(\.0*)?$ ]]; }

# Prints a line. On a terminal the next line replaces it.
progress_line() {
    if [ -n "$progress_terminal" ]; then printf '\r\033[K%s' "$1" >&2; else echo "$1" >&2; fi
}

progress_clear() { if [ -n "$progress_terminal" ]; then printf '\r\033[K' >&2; fi; }

# progress_step SECONDS WHAT COMMAND...: runs the command of an announced step, and meanwhile shows the time spent and the estimated
# time left for all steps. Returns the status of the command.
progress_step() {
    local usual=$1 what=$2 status=0 watcher=
    shift 2
    if ! progress_is_off; then
        (
            started=$SECONDS
            pause=${progress_terminal:+1}
            # A pause that leaves no process behind when it is killed: nothing ever writes to this pipe.
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

# progress_count NAME DONE TOTAL STARTED: shows how many parts are done since the second STARTED. On a terminal, subsequent output
# starts at the beginning of a line.
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
