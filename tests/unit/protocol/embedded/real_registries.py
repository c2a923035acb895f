"""What Schema Registries put into groups of Kafka 4.3.1, two members in each.

Confluent's is 8.3.1 (its SchemaRegistryCoordinator, on Kafka's own clients), Karapace 6.2.0 (its SchemaCoordinator, on
aiokafka 0.12; the version is what Karapace's build writes there).
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Elected(NamedTuple):
    """The metadata of both members, and their assignments."""

    first: bytes
    second: bytes
    given: bytes


CONFLUENT: Final = Elected(
    b'{"host":"registry-1","port":8081,"master_eligibility":true,"scheme":"https","version":1,"leader":false}',
    b'{"host":"registry-2","port":8082,"master_eligibility":false,"scheme":"http","version":1,"leader":false}',
    b'{"error":0,"master":"sr-1-c48de938-e254-4801-a937-05f4a13ecf2e","master_identity":{"host":"registry-1",'
    b'"port":8081,"master_eligibility":true,"scheme":"https","version":1,"leader":false},"version":1}',
)

CONFLUENT_NONE_MAY_LEAD: Final = Elected(
    b'{"host":"registry-2","port":8082,"master_eligibility":false,"scheme":"http","version":1,"leader":false}',
    b'{"host":"registry-1","port":8081,"master_eligibility":false,"scheme":"http","version":1,"leader":false}',
    b'{"error":0,"version":1}',
)

CONFLUENT_AT_ONE_URL: Final = Elected(
    b'{"host":"registry-1","port":8081,"master_eligibility":true,"scheme":"http","version":1,"leader":false}',
    b'{"host":"registry-1","port":8081,"master_eligibility":false,"scheme":"http","version":1,"leader":false}',
    b'{"error":1,"master":"sr-1-fe38c21d-9e52-4a9f-9ead-398d02709324","master_identity":{"host":"registry-1",'
    b'"port":8081,"master_eligibility":true,"scheme":"http","version":1,"leader":false},"version":1}',
)

KARAPACE: Final = Elected(
    b'{"version":2,"karapace_version":"6.2.0","host":"karapace-1","port":8081,"scheme":"https","master_eligibility":true}',
    b'{"version":2,"karapace_version":"6.2.0","host":"karapace-2","port":8082,"scheme":"https","master_eligibility":false}',
    b'{"master":"sr-karapace-1-7aba611e-99c7-4e0d-9a83-43069f53a0b3","master_identity":{"version":2,'
    b'"karapace_version":"6.2.0","host":"karapace-1","port":8081,"scheme":"https","master_eligibility":true},"error":0}',
)

KARAPACE_NONE_MAY_LEAD: Final = Elected(
    b'{"version":2,"karapace_version":"6.2.0","host":"karapace-1","port":8081,"scheme":"https","master_eligibility":false}',
    b'{"version":2,"karapace_version":"6.2.0","host":"karapace-2","port":8082,"scheme":"https","master_eligibility":false}',
    b'{"master":"sr-karapace-1-4884225c-2f9b-46d2-9c9a-c0ad13c2a9cb","master_identity":{"version":2,'
    b'"karapace_version":"6.2.0","host":"karapace-1","port":8081,"scheme":"https","master_eligibility":false},"error":0}',
)
