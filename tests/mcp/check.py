"""check.py CKPT: the Python client in both eras; one line for each connection."""
import asyncio
import json
import os
import sys

from mcp import StdioServerParameters, stdio_client
from mcp.client.client import Client


async def refused(call):
    try:
        await call
    except Exception:  # noqa: BLE001 - the class depends on the version of the client
        return
    raise AssertionError("it was not refused")


async def check(mode):
    name = "python-" + mode
    server = stdio_client(StdioServerParameters(command=sys.argv[1], args=["mcp"], env=dict(os.environ)))
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["save", "resume", "show"], tools
        saved = await client.call_tool("save", {"id": name, "phases": ["plan", "build"], "phase": "plan"})
        assert saved.structured_content["handle"] == name + "/1", saved
        assert json.loads(saved.content[0].text) == saved.structured_content
        resumed = await client.call_tool("resume", {"id": name})
        assert resumed.structured_content["phase"] == "build", resumed
        shown = await client.call_tool("show", {"selector": name})
        assert shown.structured_content["checkpoint"]["workflow"] == name, shown
        assert (await client.call_tool("save", {"id": name, "phase": "a, b"})).is_error
        await refused(client.call_tool("destroy", {}))
        uri = "ckpt://workflow/" + name
        assert uri in [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert json.loads((await client.read_resource(uri)).contents[0].text)["workflow"] == name
        await refused(client.read_resource("ckpt://workflow/none"))
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["resume"]
        prompt = await client.get_prompt("resume", {"id": name})
        assert "Unfinished work: " + name in prompt.messages[0].content.text, prompt
    print("ok", name)


for mode in ("legacy", "auto"):
    asyncio.run(check(mode))
