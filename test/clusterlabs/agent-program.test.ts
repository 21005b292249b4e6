import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';
import { compileCache } from '../../src/testbed/compile-cache.ts';

import { fenceAgents, runFenceProgram } from '../../src/cli/agent/fence-program.ts';
import { startBmcHarness } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import type { HarnessOptions, BmcHarness } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import { has } from '../../src/testbed/devices/ipmi/test-process.ts';
import { PduDevice } from '../../src/testbed/devices/snmp/pdu-device.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const MAIN = programPath('main');
/** Of libxml2-utils. */
const CHECKER = 'xmllint';
const SCHEMA = '/usr/share/cluster/relaxng/metadata.rng';
const folder = mkdtempSync(join(tmpdir(), 'nodefence-agent-program-'));
const started: BmcHarness[] = [];
// In the end: tests run at once.
afterAll(async () => {
  for (const harness of started) await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: HarnessOptions = {}): Promise<BmcHarness> {
  const harness = await startBmcHarness(options);
  started.push(harness);
  return harness;
}

/** One call in this process. */
async function call(name: string | undefined, input: { stdin?: Record<string, string>; argv?: string[]; signal?: AbortSignal }) {
  const said = { out: '', complaints: [] as string[] };
  const lines = Object.entries(input.stdin ?? {}).map(([key, value]) => `${key}=${value.replaceAll('\n', '\\n')}\n`);
  const code = await runFenceProgram(name, input.argv ?? [], {
    context: { cluster: {} as Cluster, clock: new SystemClock() },
    signal: input.signal ?? new AbortController().signal,
    stdin: () => Promise.resolve(lines.join('')),
    out: (text) => (said.out += text),
    complain: (line) => said.complaints.push(line),
  });
  return { code, ...said };
}

const sets = (harness: BmcHarness): (string | undefined)[] => harness.events.flatMap((event) => (event.action === 'set' ? [event.want] : []));

describe('an agent that is called as one of ClusterLabs', { timeout: 120_000 }, () => {
  it('ends with 0 for on and 2 for off', async () => {
    const harness = await start();
    expect(await call('redfish', { stdin: { ...harness.parameters, action: 'status' } })).toEqual({ code: 0, out: 'Status: ON\n', complaints: [] });
    expect(await call('redfish', { stdin: { ...harness.parameters, action: 'MONITOR' } })).toMatchObject({ code: 0 });
    const other = await start({ state: 'off' });
    expect(await call('redfish', { stdin: { ...other.parameters, action: 'status' } })).toMatchObject({ code: 2, out: 'Status: OFF\n' });
    expect(await call('redfish', { stdin: { ...other.parameters, action: 'monitor' } })).toMatchObject({ code: 0, out: '' });
  });

  it.concurrent('waits out a BMC that needs 2 s for each of its answers, as power_timeout says', async () => {
    const harness = await start({ faults: { answerDelayMs: 2_000 } });
    const another = await start({ faults: { answerDelayMs: 2_000 } });
    const [off, hasty] = await Promise.all([
      call('redfish', { stdin: { ...harness.parameters, action: 'off', power_timeout: '60' } }),
      call('redfish', { stdin: { ...another.parameters, action: 'status', power_timeout: '5' } }),
    ]);
    expect(off).toMatchObject({ code: 0, out: 'Success: Powered OFF\n' });
    expect(hasty.code).toBe(1);
    expect(hasty.complaints.join()).toMatch(/no complete answer within 5000 ms; power_timeout gives 5 s for all of it/u);
  });

  it.concurrent('sends an off of its own to a machine that is on its way, and waits for it', async () => {
    const harness = await start({ faults: { shows: 'PoweringOn', chassisShows: 'PoweringOn' } });
    const off = call('redfish', { stdin: { ...harness.parameters, action: 'off' } });
    await expect.poll(() => sets(harness), { timeout: 20_000 }).toEqual(['off']);
    harness.device.faults = {};
    expect(await off).toMatchObject({ code: 0, out: 'Success: Powered OFF\n' });
  });

  it.concurrent('switches off and on and proves it; what is as wanted already is left alone', async () => {
    const harness = await start();
    const act = (action: string) => call('redfish', { stdin: { ...harness.parameters, action, nodename: 'node-a', port: 'node-a' } });
    expect(await act('off')).toEqual({ code: 0, out: 'Success: Powered OFF\n', complaints: [] });
    expect(await act('off')).toMatchObject({ code: 0, out: 'Success: Already OFF\n' });
    expect(await act('on')).toMatchObject({ code: 0, out: 'Success: Powered ON\n' });
    expect(await act('on')).toMatchObject({ code: 0, out: 'Success: Already ON\n' });
    expect(sets(harness)).toEqual(['off', 'on']);
  });

  it.concurrent('switches the outlets of a PDU that speaks Redfish, by an option that no fencer fills with the name of its node', async () => {
    const harness = await start({ pdus: { 1: [{ id: 'A1', label: 'left' }, { id: 'A2' }, { id: 'A3' }] } });
    const act = (more: Record<string, string>) => call('redfish', { stdin: { ...harness.parameters, resource: 'outlet', port: 'node-a', ...more } });
    expect(await act({ action: 'off', outlet: 'left, A2' })).toEqual({ code: 0, out: 'Success: Powered OFF\n', complaints: [] });
    expect(harness.device.commands.map(({ plug, wanted }) => `${plug} ${wanted}`)).toEqual(['A1 off', 'A2 off']);
    expect(await act({ action: 'status', outlet: 'A1' })).toMatchObject({ code: 2 });
    const { out } = await act({ action: 'list-status' });
    expect(
      out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split(',').at(-1)),
    ).toEqual(['OFF', 'OFF', 'ON']);
    expect(await act({ action: 'off' })).toMatchObject({ code: 1, complaints: [expect.stringContaining('plug is missing')] });
    expect(await act({ action: 'off', resource: 'system', outlet: 'A3' })).toMatchObject({ code: 1, out: '' });
    expect(harness.device.commands).toHaveLength(2);
  });

  it.concurrent('reboots where no action is given, as theirs do, and says so in its metadata', async () => {
    const harness = await start();
    expect(await call('redfish', { stdin: harness.parameters })).toMatchObject({ code: 0, out: 'Success: Rebooted\n' });
    expect(sets(harness)).toEqual(['off', 'on']);
    expect((await call('redfish', { argv: ['-o', 'metadata'] })).out).toContain('default="reboot"');
  });

  it('takes a plug that is a path for the ComputerSystem that is meant, and leaves the name of a node aside', async () => {
    const harness = await start({ tree: { otherSystems: { HGX: '11111111-2222-3333-4444-555555555555' } } });
    const status = (plug: string) => call('redfish', { stdin: { ...harness.parameters, action: 'status', plug } });
    expect(await status('/redfish/v1/Systems/1')).toMatchObject({ code: 0, out: 'Status: ON\n', complaints: [] });
    expect((await status('node-1')).complaints.join()).toContain('choose one by systems_uri');
  });

  it.each(['list', 'monitor'])('says of a PDU without outlets that it has none, and fails: %s', async (action) => {
    const device = await PduDevice.start({ kind: 'geist', clock: new SystemClock(), outlets: [] });
    try {
      const { code, out, complaints } = await call('pdu', { stdin: { ip: '127.0.0.1', ipport: String(device.port), community: 'private', action } });
      expect([code, out]).toEqual([1, '']);
      expect(complaints.join()).toContain('has no outlets');
    } finally {
      await device.close();
    }
  });

  it('is no success when the device says yes and does nothing', async () => {
    const harness = await start({ faults: { ignoresReset: true } });
    const { code, complaints } = await call('redfish', { stdin: { ...harness.parameters, action: 'off', power_timeout: '4' } });
    expect(code).toBe(1);
    expect(complaints.join()).toMatch(/Timed out.*PowerState=On/);
  });

  it('fails with 1 and the words of the device, and tells no secret', async () => {
    const harness = await start();
    const { code, complaints } = await call('redfish', {
      stdin: { ...harness.parameters, password: 'not-it', action: 'status', passwort: 'h1dden' },
    });
    expect(code).toBe(1);
    expect(complaints.join()).toMatch(/Ignoring unknown option 'passwort'.*401/);
    expect(complaints.join()).not.toMatch(/not-it|h1dden/);
  });

  it('is given up at a signal', async () => {
    const harness = await start({ faults: { ignoresReset: true } });
    const controller = new AbortController();
    const running = call('redfish', { stdin: { ...harness.parameters, action: 'off' }, signal: controller.signal });
    while (sets(harness).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort(new Error('SIGTERM'));
    expect(await running).toMatchObject({ code: 1, complaints: [expect.stringContaining('given up') as string] });
  });

  it('checks its parameters without a device', async () => {
    const complete = { ip: '192.0.2.1', username: 'x', password: 'y', action: 'validate-all' };
    expect(await call('redfish', { stdin: complete })).toEqual({ code: 0, out: '', complaints: [] });
    expect(await call('redfish', { stdin: { ...complete, ip: '' } })).toMatchObject({
      code: 1,
      complaints: [expect.stringContaining('ip is missing') as string],
    });
  });

  it.each([
    [['-o', 'explode'], "Failed: Unrecognised action 'explode'"],
    [['-o', 'enable'], "Failed: Unrecognised action 'enable'"],
    [['-o', 'list'], "Failed: Unrecognised action 'list'"],
    [['--plug', '3'], 'Parse error: option --plug not recognized'],
    [['-o', 'off', '--power-timeout=0'], 'Failed: The value you have entered for --power-timeout is not a valid time in seconds'],
    [['--action'], 'Parse error: option --action requires argument'],
  ])('%j is wrong usage, which is 1 and never 2', async (argv, words) => {
    expect(await call('redfish', { argv })).toMatchObject({ code: 1, out: '', complaints: [words, "Please use '-h' for usage"] });
  });

  it('of no name that is known says which there are', async () => {
    expect(await call('no-such', {})).toMatchObject({
      code: 1,
      complaints: [expect.stringMatching(/there is no agent no-such: one of .*redfish/) as string],
    });
    expect(await call('cordon', {})).toMatchObject({ code: 1 });
    expect(await call(undefined, {})).toMatchObject({ code: 1 });
  });
});

describe.skipIf(!has(CHECKER))('the metadata of every agent', { timeout: 120_000 }, () => {
  it("are valid by fence-agents' own schema", async () => {
    const files: string[] = [];
    for (const { name } of fenceAgents()) {
      const { code, out } = await call(name, { stdin: { action: 'metadata' } });
      expect(code).toBe(0);
      files.push(join(folder, `${name}.xml`));
      writeFileSync(join(folder, `${name}.xml`), out);
    }
    const { status, stderr } = spawnSync(CHECKER, ['--noout', '--relaxng', SCHEMA, ...files], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => line !== '' && !line.endsWith(' validates'))).toEqual([]);
    expect(status).toBe(0);
    expect(files.length).toBeGreaterThanOrEqual(2);
  });

  it('come with a page for man and one for people, for each', async () => {
    for (const { name } of fenceAgents()) {
      expect((await call(name, { argv: ['-o', 'manpage'] })).out).toMatch(/^\.TH FENCE_NODEFENCE_/);
      expect((await call(name, { argv: ['--help'] })).out).toContain('-o, --action=[action]');
    }
  });
});

describe('the program', { timeout: 120_000 }, () => {
  const run = (script: string, argv: string[], input = '') =>
    spawnSync(process.execPath, [script, ...argv], {
      input,
      encoding: 'utf8',
      timeout: 100_000,
      env: { PATH: '/usr/bin:/bin', ...compileCache(), PCMK_service: 'pacemaker-fenced' },
    });

  it('reads stdin where it has no options, by command and by link alike', () => {
    const link = join(folder, 'fence_nodefence_redfish');
    symlinkSync(MAIN, link);
    const told = 'action=status\nip=127.0.0.1\nipport=1\nusername=x\npassword=s3cret\n';
    for (const { status, stdout, stderr } of [run(MAIN, ['agent', 'redfish'], told), run(link, [], told)]) {
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/^nodefence: Failed: Unreachable: 127\.0\.0\.1:1: .*ECONNREFUSED/);
      expect(stderr).not.toContain('s3cret');
    }
  });

  it('reads no stdin where it has options: what is on the command line is all', () => {
    const { status, stdout } = run(MAIN, ['agent', 'redfish', '-o', 'metadata'], 'action=off\n');
    expect(status).toBe(0);
    expect(stdout).toContain('</resource-agent>');
  });

  it('lists the agents', () => {
    const { status, stdout } = run(MAIN, ['agents']);
    expect(status).toBe(0);
    for (const { name } of fenceAgents()) expect(stdout).toContain(`fence_nodefence_${name.replaceAll('-', '_')}`);
  });
});
