"""How the phones of a class reach a room that its teacher opened as localhost, and whether they can."""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

import streamlit as st
from streamlit import net_util

from pages.classroom import texts


def reachable(written: str) -> tuple[str, str]:
    """Return the link for students, leading to this machine where it is localhost, and what to warn of, "" for nothing."""
    link = urlsplit(written)
    if not is_loopback(link.hostname or ""):
        return written, ""
    own = net_util.get_internal_ip() or ""
    if is_loopback(st.get_option("server.address") or ""):
        address = texts.THIS_ADDRESS.format(address=origin(link, own)) if own and not is_loopback(own) else ""
        return written, texts.LISTENS_HERE.format(address=address)
    if not own or is_loopback(own):
        return written, texts.NO_NETWORK.format(host=link.hostname)
    there = link._replace(netloc=urlsplit(origin(link, own)).netloc).geturl()
    return there, texts.ONLY_HERE.format(host=link.hostname, address=origin(link, own))


def origin(link: SplitResult, host: str) -> str:
    """Write where a server answers under another name of its machine."""
    return f"{link.scheme}://{host}{f':{link.port}' if link.port else ''}"


def is_loopback(host: str) -> bool:
    """Return whether a host name or an address is a loopback one, which no other machine can reach."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
