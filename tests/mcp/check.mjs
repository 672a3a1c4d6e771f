// check.mjs CLIENTS CKPT: the TypeScript clients, old and new; one line for each connection.
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [clients, ckpt] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(clients, "node_modules/@modelcontextprotocol", path)));
const modern = await load("client/dist/index.mjs");
const modernStdio = await load("client/dist/stdio.mjs");
const legacy = await load("sdk/dist/esm/client/index.js");
const legacyStdio = await load("sdk/dist/esm/client/stdio.js");

const info = { name: "conformance", version: "1" };
const server = { command: ckpt, args: ["mcp"], stderr: "inherit", env: process.env };

async function check(id, client, transport) {
  await client.connect(transport);
  const tools = (await client.listTools()).tools;
  assert.deepEqual(tools.map((tool) => tool.name), ["save", "resume", "show"]);
  const saved = await client.callTool({ name: "save", arguments: { id, phases: ["plan", "build"], phase: "plan" } });
  assert.equal(saved.structuredContent.handle, `${id}/1`);
  assert.deepEqual(JSON.parse(saved.content[0].text), saved.structuredContent);
  const resumed = await client.callTool({ name: "resume", arguments: { id } });
  assert.equal(resumed.structuredContent.phase, "build");
  const shown = await client.callTool({ name: "show", arguments: { selector: `${id}/1` } });
  assert.equal(shown.structuredContent.checkpoint.workflow, id);
  const refused = await client.callTool({ name: "save", arguments: { id, phase: "no such phase, at all" } });
  assert.equal(refused.isError, true);
  await assert.rejects(client.callTool({ name: "destroy", arguments: {} }));
  const uri = `ckpt://workflow/${id}`;
  assert.ok((await client.listResources()).resources.some((resource) => resource.uri === uri));
  assert.equal((await client.listResourceTemplates()).resourceTemplates[0].uriTemplate, "ckpt://workflow/{id}");
  assert.equal(JSON.parse((await client.readResource({ uri })).contents[0].text).workflow, id);
  await assert.rejects(client.readResource({ uri: "ckpt://workflow/none" }));
  assert.equal((await client.listPrompts()).prompts[0].name, "resume");
  const prompt = await client.getPrompt({ name: "resume", arguments: { id } });
  assert.match(prompt.messages[0].content.text, new RegExp(`Unfinished work: ${id}`));
  await client.close();
  console.log(`ok ${id}`);
}

for (const mode of ["legacy", "auto"]) {
  const client = new modern.Client(info, { versionNegotiation: { mode } });
  await check(`ts-client-${mode}`, client, new modernStdio.StdioClientTransport(server));
}
await check("ts-sdk", new legacy.Client(info), new legacyStdio.StdioClientTransport(server));
