# Completion of kgroups and of the replacements of Kafka's tools, for fish.
# kgroups prints the completions, also those of the tools: a tool of that name may be Kafka's own.

function _kgroups_completion
    set -l program kgroups
    set -l words (commandline -opc)
    string match -q -- '*/kgroups' $words[1]; and set program (string replace -r '^~' $HOME -- $words[1])
    set -l line (commandline -cp | string collect)
    for entry in (env _KGROUPS_COMPLETE="$line" $program 2> /dev/null)
        set -l parts (string split --max 2 \t -- $entry)
        switch $parts[1]
            case plain
                echo $parts[2]\t$parts[3]
            case file
                __fish_complete_path (commandline -ct)
            case dir
                __fish_complete_directories (commandline -ct)
        end
    end
end

for command in kgroups kafka-consumer-groups kafka-groups kafka-share-groups kafka-streams-application-reset kafka-streams-groups
    complete --keep-order --no-files --command $command --arguments "(_kgroups_completion)"
end
