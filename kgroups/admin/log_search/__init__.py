"""Find the newest records of groups in the internal topics of coordinators, over the wire."""
