source (dirname (status filename))/kgroups.fish
