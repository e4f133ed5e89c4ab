"""A server made with fastmcp whose tools stall, die, flood and grow.

    python odd.py stdio | modern | http PORT

A modern one knows `server/discover` and no longer `initialize`.
"""

import asyncio
import os
import sys

from fastmcp import Context, FastMCP
from fastmcp.server.middleware import Middleware
from mcp.shared.exceptions import MCPError

server = FastMCP("odd")


@server.tool(annotations={"readOnlyHint": True})
def echo(text: str) -> str:
    """Says it again."""
    return f"{text}!"


@server.tool
async def stall() -> str:
    """Never ends."""
    await asyncio.sleep(3600)
    return "it did end"


@server.tool
def die() -> str:
    """Ends the server."""
    os._exit(3)


@server.tool(annotations={"readOnlyHint": True})
def flood(megabytes: int) -> str:
    """Says much."""
    return "a" * (megabytes * 1_000_000)


@server.tool
async def grow(context: Context) -> str:
    """Gives the server a tool more."""

    def late() -> str:
        """Came late."""
        return "better late"

    server.add_tool(late)
    await context.session.send_tool_list_changed()
    return "grown"


class Modern(Middleware):
    """Refuses the old greeting."""

    async def on_initialize(self, context, call_next):
        raise MCPError(code=-32601, message="Method not found")


if sys.argv[1] == "modern":
    server.add_middleware(Modern())
if sys.argv[1] == "http":
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
else:
    server.run(show_banner=False)
