"""A token for MSK with IAM: a signed request that the broker puts to AWS. With the extra ``kgroups[aws]``."""

from __future__ import annotations

import os
import re

from kgroups.errors import AuthenticationFailed, MissingPackage

from .secret import Secret
from .security import AwsIam

_NAMED = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\.?$")


def signed_token(wanted: AwsIam, host: str) -> tuple[Secret, float]:
    """The token, and when it ends, in seconds since 1970. It asks AWS, or the machine that it runs on.

    :param host: a broker's, whose name may tell AWS's region.
    :raises AuthenticationFailed: when AWS's library finds no credentials, or nobody says which region.
    :raises MissingPackage: without that library.
    """
    try:
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider as Library
    except ImportError:
        raise MissingPackage("AWS MSK IAM needs a library of AWS's: pip install 'kgroups[aws]'") from None
    region = region_of(wanted, host)
    try:
        if wanted.role:
            session = wanted.session or "kgroups"
            token, ends = Library.generate_auth_token_from_role_arn(region, wanted.role, sts_session_name=session)
        elif wanted.profile:
            token, ends = Library.generate_auth_token_from_profile(region, wanted.profile)
        else:
            token, ends = Library.generate_auth_token(region)
    except Exception as error:  # botocore has many
        reason = str(error) if type(error).__module__.startswith("botocore") else type(error).__name__
        raise AuthenticationFailed(f"AWS MSK IAM: no token: {reason}") from None
    return Secret(token), ends / 1000


def region_of(wanted: AwsIam, host: str) -> str:
    """The cluster's, which a signature must be for: as the broker's name says, else the settings, else the environment.

    The name goes first, as in AWS's library for Java: the settings' region is that of STS, the environment's anybody's.
    """
    found = _NAMED.search(host)
    region = found[1] if found else wanted.region
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise AuthenticationFailed(f"AWS MSK IAM: {host} does not contain its region; set AWS_REGION")
    return region
