# Completion of kgroups and of the replacements of Kafka's tools, for bash.
# kgroups prints the completions, also those of the tools: a tool of that name may be Kafka's own.

_kgroups_completion() {
    local line=${COMP_LINE:0:COMP_POINT} program=kgroups type value about char rest head= IFS=$'\n'
    local word=${line##*[[:space:]]}
    [[ $1 == */kgroups ]] && program=${1/#\~/$HOME}
    # bash replaces only the part of the word after the last of these characters
    for char in = :; do
        if [[ $COMP_WORDBREAKS == *"$char"* && $word == *"$char"* ]]; then
            rest=${word##*"$char"}
            (( ${#word} - ${#rest} > ${#head} )) && head=${word%"$rest"}
        fi
    done
    COMPREPLY=()
    while IFS=$'\t' read -r type value about; do
        case $type in
            plain) COMPREPLY+=("${value#"$head"}") ;;
            file) compopt -o filenames 2> /dev/null; COMPREPLY+=($(compgen -f -- "${word#"$head"}")) ;;
            dir) compopt -o filenames 2> /dev/null; COMPREPLY+=($(compgen -d -- "${word#"$head"}")) ;;
        esac
    done < <(_KGROUPS_COMPLETE=$line "$program" 2> /dev/null)
}

# bash before 4.4 has no nosort
for _kgroups_command in kgroups kafka-consumer-groups kafka-groups kafka-share-groups \
    kafka-streams-application-reset kafka-streams-groups; do
    complete -o nosort -F _kgroups_completion "$_kgroups_command" 2> /dev/null ||
        complete -F _kgroups_completion "$_kgroups_command"
done
unset _kgroups_command
