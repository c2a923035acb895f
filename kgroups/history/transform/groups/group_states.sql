select * from timeline where since < $until and (until is null or until > $since)
