"""Sockets. Moves frames on an asyncio loop; decides nothing about groups."""
