#!/usr/bin/env python3
"""Waits for an engine, and makes the bucket or container `ckpt` in it.

    bucket.py s3 ENDPOINT ACCESS_KEY SECRET_KEY [BUCKET]
    bucket.py azure ENDPOINT

Of Azurite, the account and its key are the well-known ones of the emulator.
"""
import base64
import hashlib
import hmac
import sys
import time
import urllib.error
import urllib.request
from email.utils import formatdate

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def s3(endpoint, access_key, secret_key, bucket="ckpt"):
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )
    client.create_bucket(Bucket=bucket)


def azure(endpoint):
    date = formatdate(usegmt=True)
    resource = f"/{ACCOUNT}/{ACCOUNT}/ckpt\nrestype:container"
    text = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:2021-08-06\n" + resource
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    request = urllib.request.Request(f"{endpoint}/{ACCOUNT}/ckpt?restype=container", method="PUT", data=b"")
    request.add_header("x-ms-date", date)
    request.add_header("x-ms-version", "2021-08-06")
    request.add_header("Authorization", f"SharedKey {ACCOUNT}:{signature}")
    request.add_header("Content-Length", "0")
    request.add_header("Content-Type", "")
    urllib.request.urlopen(request, timeout=5)


def main():
    kind, *arguments = sys.argv[1:]
    last = None
    for _ in range(150):
        try:
            return {"s3": s3, "azure": azure}[kind](*arguments)
        except Exception as error:
            if "BucketAlready" in str(error):
                return None
            last = error
            time.sleep(0.2)
    sys.exit(f"{arguments[0]}: {last}")


if __name__ == "__main__":
    main()
