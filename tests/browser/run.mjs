// The pages in a real browser: every page and action, live updates, hostile text, light and dark, a phone, axe-core.
// Usage: node run.mjs CKPT CHROMIUM [DIRECTORY FOR SCREENSHOTS]
import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [ckpt, browserProgram, screenshots] = process.argv.slice(2);
const home = fs.mkdtempSync(path.join(os.tmpdir(), "ckpt-browser-"));
const project = path.join(home, "project");
fs.mkdirSync(project);
if (screenshots) fs.mkdirSync(screenshots, { recursive: true });
const HOSTILE = `"'><script>window.pwned=1</script><img src=x onerror=window.pwned=1><svg/onload=window.pwned=1>`;

const env = { PATH: process.env.PATH, HOME: home, USER: "kim", CKPT_CEILING_DIRECTORIES: home };
let clock = Date.parse("2026-01-12T09:00:00Z");
const run = (...args) => {
  clock += 7 * 60 * 1000;
  const done = spawnSync(ckpt, args, { cwd: project, env: { ...env, CKPT_NOW: new Date(clock).toISOString() }, encoding: "utf8" });
  assert.equal(done.status, 0, `ckpt ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
};

function fill() {
  fs.mkdirSync(path.join(project, ".ckpt"));
  fs.writeFileSync(path.join(project, ".ckpt", "config.toml"),
    `[pipelines.feature]\nphases = [{ id = "design", approval = true }, "build", "test", "release"]\n`);
  const titles = ["OAuth login", "Search index", "Export to CSV", "Rate limits", "Dark mode"];
  titles.forEach((title, n) => {
    const id = `0${41 + n}`;
    run("start", id, "--pipeline", "feature", "--phase", "design", "--title", title, "--label", n % 2 ? "backend" : "web");
    run("done", id, "--phase", "design");
    if (n === 4) return;
    run("approve", id, "--by", "kim");
    run("start", id, "--phase", "build");
    if (n % 2) { run("fail", id, "--phase", "build", "--error", "link failed: out of memory"); if (n === 3) return; run("start", id, "--phase", "build"); }
    run("save", id, "--task", "lexer=complete", "--task", "parser=running,after=lexer", "--task", "printer=pending,after=parser");
    if (n === 0) return;
    run("save", id, "--task", "parser=complete", "--task", "printer=complete");
    run("done", id, "--phase", "build"); run("done", id, "--phase", "test"); run("done", id, "--phase", "release");
    clock += 6 * 24 * 3600 * 1000;
  });
  fs.writeFileSync(path.join(project, "spec.md"), "# Spec\n");
  run("save", "041", "--artifact", "spec=spec.md", "--state", JSON.stringify({ parser: { rules: 42, done: ["a", "b"] }, issue: "https://example.org/issues/41" }));
  fs.rmSync(path.join(project, "spec.md"));
  run("save", "hostile", "--phases", `a${HOSTILE.slice(0, 40).replaceAll(",", "")},b`, "--phase", "b", "--title", HOSTILE, "--label", HOSTILE.slice(0, 40), "--note", HOSTILE,
    "--state", JSON.stringify({ [HOSTILE]: HOSTILE, link: "javascript:window.pwned=1" }), "--task", "<b>t=pending", "--next", HOSTILE);
  run("fail", "hostile", "--phase", "b", "--error", HOSTILE);
}

// Enough for a second page.
function fillPages() {
  for (let n = 0; n < 50; n += 1) run("save", `batch-${n}`, "--phases", "a,b,c", "--phase", "a", "-q");
}

async function serve() {
  const child = spawn(ckpt, ["ui", "--json"], { cwd: project, env: { ...env, CKPT_NOW: new Date(clock + 3600 * 1000).toISOString() } });
  const line = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (part) => { text += part; if (text.includes("\n")) resolve(text); });
    child.on("exit", () => reject(new Error("ckpt ui ended")));
  });
  return { child, address: JSON.parse(line).address };
}

const problems = [];
let origin = "";
function watch(page) {
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) problems.push(`console on ${page.url()}: ${message.text()}`); });
  page.on("pageerror", (error) => problems.push(`error on ${page.url()}: ${error}`));
  page.on("dialog", (dialog) => { problems.push(`a dialog on ${page.url()}`); dialog.dismiss(); });
  page.on("request", (request) => { const url = request.url(); if (!url.startsWith(origin) && !url.startsWith("data:") && !url.startsWith("file:")) problems.push(`a request to ${url}`); });
}

// Contrast is most of the work of axe. The scheme changes nothing but colours, and the width everything else, so each page
// is checked whole in one surrounding, and in the others by the rules that can come to another result there.
const OF_COLOURS = ["color-contrast", "link-in-text-block"];
const RULES = {
  light: {},
  dark: { runOnly: OF_COLOURS },
  phone: { rules: Object.fromEntries(OF_COLOURS.map((rule) => [rule, { enabled: false }])) },
};

async function show(page, surrounding) {
  const [colorScheme, width] = { light: ["light", 1200], dark: ["dark", 1200], phone: ["light", 390] }[surrounding];
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 850 });
  const seen = await page.evaluate(() => [matchMedia("(prefers-color-scheme: dark)").matches, innerWidth]);
  assert.deepEqual(seen, [colorScheme === "dark", width]);
}

// The workflows that fill a page differ in a number only, so axe looks at a few of them.
const SAME = "[data-same]";
const markSame = () => {
  const filling = [...document.querySelectorAll("tbody tr, article.card")].filter((row) => row.textContent.includes("batch-"));
  filling.slice(4).forEach((row) => { row.dataset.same = ""; });
};

async function check(page, name, surrounding) {
  assert.equal(await page.evaluate(() => window.pwned), undefined, `hostile text ran on ${name}`);
  // The policy forbids scripts, so axe is evaluated from outside the page.
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(axe);
  await page.evaluate(markSame);
  const { violations, passes } = await page.evaluate(([same, rules]) => window.axe.run({ exclude: [same] }, { resultTypes: ["violations"], ...rules }), [SAME, RULES[surrounding]]);
  assert.ok(passes.some((rule) => OF_COLOURS.includes(rule.id)) === (surrounding !== "phone"), `axe looked at the colours of ${name}`);
  for (const found of violations) problems.push(`axe on ${name}-${surrounding}: ${found.id}, ${found.help}: ${found.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 1) problems.push(`${name}-${surrounding} is ${wide} pixels too wide`);
  if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}-${surrounding}.png`), fullPage: false });
}

fill();
const report = run("report", "-q").trim();
fillPages();
const site = await serve();
origin = new URL(site.address).origin;
const browser = await chromium.launch({
  executablePath: browserProgram, headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
try {
  const pages = { workflows: "/", second: "/?page=2", nothing: "/?q=zzz", workflow: "/w/041", failed: "/w/044", hostile: "/w/hostile", checkpoint: "/w/041/6", "hostile-checkpoint": "/w/hostile/1", difference: "/diff?from=041%2F3&to=041%2F6", "hostile-difference": "/diff?from=hostile%2F1&to=hostile%2F2", analytics: "/stats" };
  const context = await browser.newContext();
  const page = await context.newPage();
  watch(page);
  await page.goto(site.address);
  assert.equal(page.url(), `${origin}/`, "the token leaves the address");
  // The server is not told of the surrounding, so a page is loaded once for all of them.
  for (const [name, address] of Object.entries(pages)) {
    await page.goto(origin + address);
    for (const surrounding of ["phone", "dark", "light"]) {
      await show(page, surrounding);
      await check(page, name, surrounding);
    }
  }
  await page.goto(origin);

  // Search, sort and pages.
  await page.getByLabel("Search").fill("oauth");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByRole("link", { name: "041" }).waitFor();
  assert.equal(await page.locator("tbody tr").count(), 1);
  await page.goto(`${origin}/?sort=id`);
  await page.getByRole("link", { name: "Older" }).click();
  assert.ok(await page.getByText("Page 2 of").isVisible());

  // The keyboard: the first Tab leads to the link that skips the navigation, and focus is visible.
  await page.goto(`${origin}/w/041`);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Tab");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none", "focus is visible");

  // A save in another terminal appears without a reload.
  await page.evaluate(() => { window.stays = true; });
  await page.getByText("Live", { exact: true }).waitFor();
  const begun = Date.now();
  run("save", "041", "--note", "from another terminal");
  await page.getByText("from another terminal").first().waitFor({ timeout: 20000 });
  console.log(`a save was shown ${Date.now() - begun} ms after its command began`);
  assert.equal(await page.evaluate(() => window.stays), true, "the page was not reloaded");

  // Every action, with its plan.
  const act = async (address, button, plan) => {
    await page.goto(origin + address);
    await page.getByRole("button", { name: `${button}…` }).click();
    await page.getByText(plan).first().waitFor();
    await page.getByRole("button", { name: "Do it" }).click();
    await page.getByRole("heading", { name: "Done:" }).waitFor();
  };
  await act("/w/045", "Approve", "Records your approval of phase design");
  await check(page, "done", "light");
  // The answer to a form is not fetched again when something is saved.
  run("save", "045", "--note", "meanwhile");
  await page.waitForTimeout(1500);
  await act("/w/045", "Revise", "Reopens these phases");
  await act("/w/045", "Roll back", "045/");
  await page.goto(`${origin}/w/042`);
  await page.getByRole("button", { name: "Archive…" }).click();
  await check(page, "plan", "light");
  await page.getByRole("button", { name: "Do it" }).click();
  await page.getByRole("heading", { name: "Done:" }).waitFor();
  await act("/w/042", "Restore", "042");
  await page.goto(origin);
  await page.getByRole("button", { name: "Clean up…" }).click();
  await page.getByRole("heading", { name: "The plan" }).waitFor();
  await page.getByRole("button", { name: "Do it" }).click();
  await page.getByRole("heading", { name: "Done:" }).waitFor();

  // Another site cannot frame, fetch or post.
  const evil = await context.newPage();
  await evil.goto("data:text/html,<title>evil</title>");
  const read = await evil.evaluate(async (address) => fetch(address, { credentials: "include" }).then((answer) => answer.text(), () => "refused"), origin);
  assert.equal(read, "refused");
  await evil.setContent(`<form method="post" action="${origin}/apply"><input name="name" value="cleanup"></form>`);
  const [answer] = await Promise.all([evil.waitForResponse((response) => response.url().endsWith("/apply")), evil.evaluate(() => document.forms[0].submit())]);
  assert.equal(answer.status(), 403);
  await evil.close();

  // The same pages as a file.
  await page.goto(`file://${report}`);
  await check(page, "report", "light");
  await page.getByRole("link", { name: "041" }).click();
  assert.ok(await page.getByRole("heading", { name: "041" }).isVisible());
  await page.getByRole("link", { name: "Analytics" }).click();
  assert.ok(await page.getByRole("heading", { name: "Analytics" }).isVisible());
} finally {
  await browser.close();
  site.child.kill();
  fs.rmSync(home, { recursive: true, force: true });
}
assert.deepEqual(problems, []);
if (screenshots) console.log(`screenshots in ${screenshots}`);
