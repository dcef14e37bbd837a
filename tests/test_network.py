"""The guard that keeps all tests from the network."""

import socket

import pytest
from pytest_socket import SocketConnectBlockedError


def test_a_connection_to_the_outside_is_refused() -> None:
    with pytest.raises(SocketConnectBlockedError), socket.socket() as outside:
        outside.connect(("192.0.2.1", 443))
