import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { afterEach, describe, expect, it } from 'vitest';

import { RedfishAgent } from '../../../../agents/redfish/agent.ts';
import type { Target } from '../../../ports/agents.ts';
import { SystemClock } from '../../../runtime/system-clock.ts';
import type { TraceEvent } from '../../../laws/trace.ts';
import { HARNESS_UUID } from './bmc-harness.ts';
import type { BmcConfiguration } from './bmc-configuration.ts';
import { programPath } from '../../shipped/program.ts';

const PROGRAM = programPath('testbed/processes/bmc');
/** A machine that notes every line it is told, and a sign of life each 5 ms. */
const MACHINE = `
const fs = require('node:fs');
const note = (line) => fs.appendFileSync(process.argv[1], process.pid + ' ' + line + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', note).on('close', () => process.exit(0));
setInterval(() => note('alive'), 5);
`;

const cleanUp: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 8_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`it did not come to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function start(faults: BmcConfiguration['faults'] = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-bmc-'));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  const notes = join(folder, 'notes');
  const trace = join(folder, 'trace.jsonl');
  writeFileSync(notes, '');
  writeFileSync(trace, '');
  const configuration: BmcConfiguration = {
    node: 'a',
    uuid: HARNESS_UUID,
    username: 'admin',
    password: 'secret of the drill',
    trace,
    faults,
    machine: { command: [process.execPath, '-e', MACHINE], configuration: notes },
  };
  writeFileSync(join(folder, 'bmc.json'), JSON.stringify(configuration));
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, join(folder, 'bmc.json')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  cleanUp.push(async () => {
    child.stdin?.end();
    await exited;
  });
  if (child.stdout === null) throw new Error('no stdout');
  const [line] = (await new Promise<string[]>((resolve) => createInterface({ input: child.stdout! }).once('line', (text) => resolve([text])))) as [
    string,
  ];
  const ready = JSON.parse(line) as { ready: boolean; url: string; fingerprint: string };
  const agent = new RedfishAgent(new SystemClock());
  cleanUp.push(() => agent.close());
  const url = new URL(ready.url);
  const target = (): Target => ({
    plug: '',
    device: url.host,
    parameters: { ip: url.hostname, ipport: url.port, username: 'admin', password: 'secret of the drill', ssl_fingerprint: ready.fingerprint },
    identity: { node: 'a', systemUUID: HARNESS_UUID },
    signal: new AbortController().signal,
    deadlineMs: 5_000,
    beforeSend: () => undefined,
  });
  return {
    agent,
    target,
    url,
    exited,
    child,
    say: (command: unknown) => void child.stdin?.write(`${JSON.stringify(command)}\n`),
    notes: () =>
      readFileSync(notes, 'utf8')
        .split('\n')
        .filter((text) => text !== ''),
    events: () =>
      readFileSync(trace, 'utf8')
        .split('\n')
        .filter((text) => text !== '')
        .map((text) => JSON.parse(text) as TraceEvent),
  };
}

function bootIDs(notes: readonly string[]): string[] {
  return notes.flatMap((note) => /"bootID":"([^"]+)"/.exec(note)?.[1] ?? []);
}

describe('a BMC process', () => {
  it('owns its machine: off stops the writer, on boots it anew with another boot ID', async () => {
    const { agent, target, notes, events, url } = await start();
    await until('the machine lives', () => notes().some((note) => note.endsWith('alive')));
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    await until('PowerState is Off', async () => (await agent.read(target())).state === 'off');
    const written = notes().length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(notes()).toHaveLength(written);
    await agent.set(target(), 'on');
    await until('it lives again', () => new Set(bootIDs(notes())).size === 2 && (notes().at(-1) ?? '').endsWith('alive'));
    const power = events().filter((event) => event.kind === 'power');
    expect(power.map((event) => [event.state, event.cause])).toEqual([
      ['on', 'start'],
      ['off', 'set'],
      ['on', 'set'],
    ]);
    const device = events().filter((event) => event.kind === 'device');
    expect(new Set(device.map((event) => event.device))).toEqual(new Set([url.host]));
    expect(device.map((event) => event.action)).toEqual(expect.arrayContaining(['login', 'identity', 'read', 'set']));
  });

  it('stays On when the machine panics, and passes lines on to it', async () => {
    const { agent, target, notes, events, say } = await start();
    say({ command: 'machine', line: { command: 'hang' } });
    await until('the line arrived', () => notes().some((note) => note.endsWith('{"command":"hang"}')));
    say({ command: 'panic' });
    await until('the panic is on record', () => events().some((event) => event.kind === 'node' && event.what === 'panic'));
    expect((await agent.read(target())).state).toBe('on');
    expect(events().filter((event) => event.kind === 'power')).toHaveLength(1);
    await agent.set(target(), 'off');
    await until('PowerState is Off', async () => (await agent.read(target())).state === 'off');
  });

  it('takes its faults from the configuration and from a command', async () => {
    const { agent, target, say } = await start('lies');
    await agent.set(target(), 'off');
    expect((await agent.read(target())).state).toBe('on');
    say({ command: 'faults', faults: 'honest' });
    await until('the off is done', async () => {
      await agent.set(target(), 'off');
      return (await agent.read(target())).state === 'off';
    });
  });

  it('leaves nothing running when its input ends, nor when it is killed', async () => {
    const { notes, child, exited } = await start();
    await until('the machine lives', () => notes().length > 1);
    const machine = Number(notes()[0]?.split(' ')[0]);
    const isAlive = (): boolean => existsSync(`/proc/${machine}`);
    expect(isAlive()).toBe(true);
    child.kill('SIGKILL');
    await exited;
    await expect.poll(isAlive, { timeout: 10_000 }).toBe(false);
  });

  it('says what is missing in its configuration', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-bmc-'));
    cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'bmc.json'), '{"node":"a"}');
    const child = spawn(process.execPath, [PROGRAM, join(folder, 'bmc.json')], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    expect(code).not.toBe(0);
    expect(said).toContain('uuid, username, password, trace missing');
  });
});
