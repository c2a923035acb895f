"""A secure Kafka on this machine: TLS, every SASL mechanism, Kerberos, a token server, and ACLs; all of real parts.

``up()`` starts it and returns a :class:`Secure`, which goes down when its ``with`` ends::

    from kgroups.sandbox.security import Acl, up

    with up("4.3.1", name="mine", users=["ann"]) as secure:
        secure.file("sasl-ssl-scram-sha-512")   # the operator's client.properties; secure.ways has all the names
        secure.allow(Acl("ann", "describe", "group", "orders"))
        secure.user_file("ann")                 # ann's client.properties, PLAIN over SASL_PLAINTEXT
        secure.bootstrap("SASL_PLAINTEXT")      # host:port of a listener; see listeners.LISTENERS
        secure.sandbox                          # the cluster; on its PLAINTEXT listener everything is allowed

The operator may do everything, by whatever way it comes; other users nothing, until an ACL allows it. On the PLAINTEXT
and SSL listeners nobody logs in, and everything is allowed, so that ``seed_world`` works as on any sandbox. 4.3.1 has
KRaft's StandardAuthorizer, 2.8.2 the AclAuthorizer of ZooKeeper's time.

``certificates`` and ``stores`` make keys, ``kerberos`` the realm, ``token_server`` and ``tokens`` what OAUTHBEARER
needs, ``listeners`` the brokers' settings, ``users`` and ``acls`` who may what, ``ways`` the clients' files, ``secure``
all of it.
"""

from __future__ import annotations

from kgroups.sandbox.security.acls import Acl
from kgroups.sandbox.security.kerberos import need_kerberos
from kgroups.sandbox.security.secure import Secure, up

__all__ = ["Acl", "Secure", "need_kerberos", "up"]
