select * from stays where since < $until and (until is null or until > $since)
