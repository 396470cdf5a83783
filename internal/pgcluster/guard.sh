# Waits until the program that started the cluster in folder $1 closes its end
# of the pipe on standard input, by Close or by dying; then ends the servers and
# removes the folder.
dir=$1
trap '' HUP INT TERM
while read -r _; do :; done

# is_ours PID: is it a program of this cluster, or the shell that becomes it? Its
# arguments name the folder.
is_ours() {
	if [ -d /proc/self ]; then
		arguments=$(tr '\000' ' ' <"/proc/$1/cmdline")
	else
		arguments=$(ps -o args= -p "$1")
	fi 2>/dev/null
	case $arguments in *"$dir/"*) return 0 ;; esac
	return 1
}

# signal SIGNAL NAME: sends it to every program whose pid is in a file of this
# name; fails if there is none.
signal() {
	found=1
	for file in "$dir"/*/"$2"; do
		if [ -f "$file" ] && read -r pid <"$file" && is_ours "$pid"; then
			kill -s "$1" "$pid" && found=0
		fi
	done 2>/dev/null
	return $found
}

# thaw: lets frozen processes run, so that they can end.
thaw() {
	for file in "$dir"/*/frozen; do
		[ -f "$file" ] && kill -s CONT $(cat "$file")
	done 2>/dev/null
}

# end_servers: on SIGQUIT a postmaster ends its children, after 5 s by force,
# and gives its shared memory back.
end_servers() {
	tries=0
	while signal QUIT pid; do
		thaw
		tries=$((tries + 1))
		[ $tries -eq 400 ] && signal KILL pid
		[ $tries -ge 500 ] && return
		sleep 0.02
	done
}

# await_initdb: its servers would leave shared memory if they were cut short.
await_initdb() {
	tries=0
	while signal 0 initdb && [ $tries -lt 500 ]; do
		tries=$((tries + 1))
		sleep 0.02
	done
}

# A program that was just being started may come up after it was looked for, but
# not without its data.
await_initdb
end_servers
rm -rf "$dir"/*/data 2>/dev/null
await_initdb
end_servers

# A program that copied the data may still write.
tries=0
until rm -rf "$dir" 2>/dev/null || [ $tries -ge 100 ]; do
	tries=$((tries + 1))
	sleep 0.05
done
