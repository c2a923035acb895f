"""Connections to brokers on asyncio: sockets, TLS, authentication, and requests. Knows nothing about groups."""
