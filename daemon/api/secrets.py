"""What stands behind placeholders, for the person at this machine: the gate lets nobody ask for it over TCP."""

from __future__ import annotations

from daemon import wire
from daemon.api.routing import Api
from daemon.api.services import Services
from memory import Memory

PATH = "/secrets"  # and what lies below it


def routes(api: Api, services: Services) -> None:
    memory = services.memory

    @api.post(PATH)
    async def secrets(placeholders: tuple[str, ...]) -> wire.SecretsReply:
        return await services.read(lambda: wire.SecretsReply(memory.secrets.find(placeholders)))

    @api.get(f"{PATH}/places")
    async def places() -> wire.SecretPlacesReply:
        return await services.work(lambda: list_places(memory))


def list_places(memory: Memory) -> wire.SecretPlacesReply:
    """Where secrets lie; looks through all that was read."""
    masked, unmasked = memory.secrets.list_places(), memory.secrets.list_unmasked()
    return wire.SecretPlacesReply(
        tuple(wire.SecretPlace(*place) for place in masked), tuple(wire.SecretPlace(*place) for place in unmasked)
    )
