"""A secure Kafka cluster on this machine: TLS, every SASL mechanism, Kerberos, a token server, and ACLs; all real.

``up()`` starts it and returns a :class:`Secure`, which is stopped at the end of its ``with`` block::

    from kgroups.sandbox.security import Acl, up

    with up("4.3.1", name="mine", users=["ann"]) as secure:
        secure.file("sasl-ssl-scram-sha-512")   # the operator's client.properties; secure.ways has all the names
        secure.allow(Acl("ann", "describe", "group", "orders"))
        secure.user_file("ann")                 # ann's client.properties, PLAIN over SASL_PLAINTEXT
        secure.bootstrap("SASL_PLAINTEXT")      # host:port of a listener; see listeners.LISTENERS
        secure.sandbox                          # the cluster; on its PLAINTEXT listener everything is allowed

The operator is authorized for everything, with every authentication method; other users require ACLs. The PLAINTEXT and
SSL listeners need no authentication and allow everything, so that ``seed_known_groups`` works as in any sandbox. 4.3.1
has KRaft's StandardAuthorizer, 2.8.2 ZooKeeper's AclAuthorizer.

``certificates`` and ``stores`` create keys, ``kerberos`` the realm, ``token_server`` and ``tokens`` the prerequisites
of OAUTHBEARER, ``listeners`` the brokers' settings, ``users`` and ``acls`` principals and permissions, ``ways`` the
clients' files, and ``secure`` the whole.
"""

from __future__ import annotations

from .acls import Acl
from .kerberos import kerberos_configuration, need_kerberos
from .secure import Secure, up

__all__ = ["Acl", "Secure", "kerberos_configuration", "need_kerberos", "up"]
