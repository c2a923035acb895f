"""Create tokens for MSK with IAM: signed requests that the broker sends to AWS. Requires ``kgroups[aws]``."""

from __future__ import annotations

import os
import re

from kgroups.errors import AuthenticationFailed, MissingPackage, install_command

from .secret import Secret
from .security import AwsIam

_REGION_IN_HOST = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\.?$")


def signed_token(credentials: AwsIam, host: str) -> tuple[Secret, float]:
    """Return a token and its expiry, in seconds since 1970. AWS's library may contact AWS or the instance metadata.

    :param host: a broker's host name, which may contain the AWS region.
    :raises AuthenticationFailed: if AWS's library finds no credentials, or the region is unknown.
    :raises MissingPackage: if AWS's library is not installed.
    """
    try:
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider as Library
    except ImportError:
        raise MissingPackage(f"AWS MSK IAM needs a library of AWS's: {install_command('aws')}") from None
    region = region_of(credentials, host)
    try:
        if credentials.role:
            session = credentials.session or "kgroups"
            token, expiry = Library.generate_auth_token_from_role_arn(
                region, credentials.role, sts_session_name=session
            )
        elif credentials.profile:
            token, expiry = Library.generate_auth_token_from_profile(region, credentials.profile)
        else:
            token, expiry = Library.generate_auth_token(region)
    except Exception as error:  # botocore's exceptions have no common base class
        reason = str(error) if type(error).__module__.startswith("botocore") else type(error).__name__
        raise AuthenticationFailed(f"AWS MSK IAM: no token: {reason}") from None
    return Secret(token), expiry / 1000


def region_of(credentials: AwsIam, host: str) -> str:
    """Return the cluster's region, for which the request is signed: from the host name, settings, or environment.

    The host name takes precedence, as in AWS's library for Java: the region in the settings belongs to STS, and the
    region in the environment may belong to any service.

    :raises AuthenticationFailed: if the region is unknown.
    """
    found = _REGION_IN_HOST.search(host)
    region = found[1] if found else credentials.region
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise AuthenticationFailed(f"AWS MSK IAM: {host} does not contain its region; set AWS_REGION")
    return region
