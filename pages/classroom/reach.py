"""Whether the phones of a class can reach the room: not where its teacher opened it as localhost."""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

import streamlit as st
from streamlit import net_util

from pages.classroom import texts


def say_if_unreachable(secret_link: str) -> None:
    """Warn that phones cannot reach a room opened as localhost; link its teacher's secret link at an address that they reach."""
    link = urlsplit(secret_link)
    if not is_loopback(link.hostname or ""):
        return
    own = net_util.get_internal_ip() or ""
    with st.container(key="classroom_unreachable"):
        if is_loopback(st.get_option("server.address") or ""):
            address = texts.THIS_ADDRESS.format(address=origin(link, own)) if own and not is_loopback(own) else ""
            st.warning(texts.LISTENS_HERE.format(address=address), icon=":material/wifi_off:")
        elif not own or is_loopback(own):
            st.warning(texts.NO_NETWORK.format(host=link.hostname), icon=":material/wifi_off:")
        else:
            st.warning(texts.ONLY_HERE.format(host=link.hostname), icon=":material/wifi_off:")
            there = link._replace(netloc=urlsplit(origin(link, own)).netloc).geturl()
            st.link_button(texts.OPEN_AT.format(address=origin(link, own)), there, icon=":material/wifi:")


def origin(link: SplitResult, host: str) -> str:
    """Write where a server answers under another name of its machine."""
    return f"{link.scheme}://{host}{f':{link.port}' if link.port else ''}"


def is_loopback(host: str) -> bool:
    """Return whether a host name or an address is a loopback one, which no other machine can reach."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
