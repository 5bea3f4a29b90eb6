"""Where a request comes from: the peer's address, or what a proxy that is trusted says of it."""

import ipaddress
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest


@lru_cache(maxsize=4096)
def clean(text: str) -> str | None:
    """Return an address as PostgreSQL and people write it, None when it is none."""
    try:
        found = ipaddress.ip_address(text.strip())
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address):
        return str(found.ipv4_mapped or ipaddress.IPv6Address(int(found)))
    return str(found)


@lru_cache(maxsize=4096)
def is_trusted(address: str, proxies: tuple[str, ...]) -> bool:
    """Tell whether an address is one of the proxies, given as addresses and networks."""
    found = ipaddress.ip_address(address)
    return any(found in ipaddress.ip_network(proxy, strict=False) for proxy in proxies)


def address_of(request: HttpRequest) -> str | None:
    """Return the address a request comes from, None where there is none, as on a Unix socket.

    Only a trusted proxy is believed: from the right of X-Forwarded-For, the first address that is no such proxy.
    """
    peer = clean(request.META.get("REMOTE_ADDR", ""))
    proxies: tuple[str, ...] = tuple(settings.TRUSTED_PROXIES)
    if peer is None or not proxies or not is_trusted(peer, proxies):
        return peer
    for told in reversed(request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")):
        address = clean(told)
        if address is None:
            return peer
        peer = address
        if not is_trusted(address, proxies):
            return address
    return peer
