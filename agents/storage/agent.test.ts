import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

import { AgentError } from '../../src/ports/agents.ts';
import type { FabricAgent, Parameters, Target } from '../../src/ports/agents.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { isSshdThere, startOpenSshd } from '../shared/ssh/testing/open-sshd.ts';
import { ProgramFolder } from '../shared/process/program-folder.ts';
import { storageWith } from './definition.ts';

if (!isSshdThere && process.env['CI'] === 'true') throw new Error('Debian package openssh-server is missing');

const folder = mkdtempSync(join(tmpdir(), 'nodefence-storage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A filer in a file: a list of who may write, behind a header that is always there. */
const filer = join(folder, 'filer');
const clients = join(folder, 'clients');
const said = join(folder, 'said');

const PARAMETERS: Parameters = {
  close_command: 'filer close %client% %target%',
  open_command: 'filer open %client% %target%',
  state_command: 'filer list',
  closed_match: 'Export list:',
  open_match: '/%target%\\s+%client%/',
  client: '10.0.0.5',
  target: '/srv/vol1',
};

/** For commands on another host, which has it by its path. */
const AWAY = {
  close_command: `${filer} close %client% %target%`,
  open_command: `${filer} open %client% %target%`,
  state_command: `${filer} list`,
};

const storage = storageWith(new ProgramFolder({ kind: 'folder', path: folder }));

describe('storage', { timeout: 90_000 }, () => {
  let agent: FabricAgent;

  beforeEach(async () => {
    writeFileSync(clients, '/srv/vol1 10.0.0.5\n/srv/vol1 10.0.0.51\n');
    writeFileSync(said, '');
    script(
      'case "$1" in',
      `list) echo "Export list:"; cat ${clients} ;;`,
      `close) grep -v "^$3 $2\\$" ${clients} > ${clients}.new; mv ${clients}.new ${clients} ;;`,
      `open) echo "$3 $2" >> ${clients} ;;`,
      'esac',
    );
    agent = await agentWith({ metadata: { name: 'worker-1' }, spec: {}, status: { addresses: [{ type: 'InternalIP', address: '10.0.0.5' }] } });
  });

  it('says that its closed proves only what was seen open before: a mistyped name is never there', () => {
    expect(agent.mustBeSeenOpen).toBe(true);
  });

  function script(...lines: string[]): void {
    writeFileSync(filer, ['#!/bin/sh', `echo "$*" >> ${said}`, ...lines].join('\n'));
    chmodSync(filer, 0o755);
  }

  async function agentWith(node: object): Promise<FabricAgent> {
    const cluster = { get: () => Promise.resolve(node) } as unknown as Cluster;
    const created = await storage.create({ cluster, clock: new SystemClock() });
    if (created.kind !== 'fabric') throw new Error('not a fabric agent');
    return created;
  }

  function target(parameters: Parameters = {}, change: Partial<Target> = {}): Target {
    return {
      plug: '',
      device: 'filer',
      parameters: { ...PARAMETERS, ...parameters },
      identity: { node: 'worker-1', addresses: ['10.0.0.5', 'fd00::5'] },
      signal: new AbortController().signal,
      deadlineMs: 20_000,
      beforeSend: () => undefined,
      ...change,
    };
  }

  it('shuts out by one command, and believes the other', async () => {
    expect(await agent.read(target())).toMatchObject({ state: 'open', identity: 'verified' });
    expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(target())).toMatchObject({ state: 'closed' });
    await agent.set(target(), 'open');
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
  });

  it.each([
    ['an address that the Node has', {}, '', true],
    ['an address of another', { client: '10.0.0.51' }, '', false],
    ['one that it is a part of', { client: '10.0.0.0/24' }, '', false],
    ['its other address, in another spelling', { client: 'fd00:0::5' }, '', true],
    ['an initiator that holds its name', { client: 'iqn.2026-01.com.example:worker-1' }, '', true],
    ['an initiator of another node', { client: 'iqn.2026-01.com.example:worker-11' }, '', false],
    ['its name, filled in', { close_command: 'filer close %node%', open_match: '%node%' }, '', true],
    ['a plug that begins with its address', { close_command: 'filer close %plug%', open_match: '%plug%' }, '10.0.0.5:vol1', true],
    ['a plug that only its target goes by', { close_command: 'filer close %target%', open_match: '%target%', target: 'worker-1' }, '', false],
    ['a client that is closed and not looked for', { open_match: '%target% is open' }, '', false],
    ['a client that is looked for and not closed', { close_command: 'filer close %target%' }, '', false],
  ] as const)('shows whom it shuts out by %s', async (_what, parameters, plug, isShown) => {
    const identity = isShown ? 'verified' : 'unverified';
    const asked = target(parameters, { plug });
    expect(await agent.read(asked)).toMatchObject({ identity });
    const why = storage.anonymous?.(asked.parameters, asked.identity, plug);
    expect(why?.split(':')[0]).toBe(isShown ? undefined : 'nothing shows that node worker-1 is shut out');
  });

  it.each([
    ['10.0.0.5(sync,rw)', 'open'],
    ['10.0.0.51(sync,rw)', 'closed'],
    ['10.0.0.0/24(sync,rw)', 'open'],
    ['*(sync,rw)', 'open'],
    ['<world>(sync,rw)', 'open'],
    ['*.example.com(sync,rw)', 'open'],
    ['@workers(sync,rw)', 'open'],
  ] as const)('as its page writes it for NFS, takes an export to %s for %s', async (shown, state) => {
    const page = readFileSync(new URL('README.md', import.meta.url), 'utf8');
    const written = (name: string): string => new RegExp(`^ *${name}=(.*)$`, 'm').exec(page)?.[1] ?? '';
    script('echo "/srv/always  192.0.2.9(ro)"', `echo "/srv/vol1  ${shown}"`);
    const lines = { closed_match: written('closed_match'), open_match: written('open_match') };
    expect(await agent.read(target(lines, { plug: '10.0.0.5' }))).toMatchObject({ state });
  });

  it('does not believe a command that did nothing', async () => {
    script('[ "$1" = list ] && echo "Export list:" && cat ' + clients, 'exit 0');
    await agent.set(target(), 'closed');
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
  });

  it.each([
    ['nothing', [], 'unknown'],
    ['an answer without its header', ['echo "/srv/vol2 10.0.0.5"'], 'unknown'],
    ['a header with something before it', ['echo "no Export list:"'], 'unknown'],
    ['another client only', ['echo "Export list:"', 'echo "/srv/vol1 10.0.0.51"'], 'closed'],
    ['an address where a dot stands for anything', ['echo "Export list:"', 'echo "/srv/vol1 10x0.0.5"'], 'closed'],
  ])('takes %s for %s', async (_what, lines, state) => {
    script(...lines);
    expect(await agent.read(target())).toMatchObject({ state });
  });

  it('does not know what more output than is kept would have said', async () => {
    script('echo "Export list:"', 'head -c 400000 /dev/zero | tr "\\\\0" x', `cat ${clients}`);
    expect(await agent.read(target())).toMatchObject({ state: 'unknown' });
  });

  it('tells what a command said that failed', async () => {
    script('echo "permission denied" >&2', 'exit 3');
    await expect(agent.set(target(), 'closed')).rejects.toMatchObject({
      kind: 'Refused',
      message: expect.stringContaining('permission denied') as string,
    });
    await expect(agent.read(target())).rejects.toMatchObject({ kind: 'Unreachable', message: expect.stringContaining('exit code 3') as string });
  });

  it('does not know what a command has done that was killed', async () => {
    script('kill -9 $$');
    expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'unclear', detail: 'exit code (none)' });
  });

  it('ends a command that does not end', async () => {
    script(`echo $$ > ${folder}/pid`, 'sleep 600');
    await expect(agent.read(target({}, { deadlineMs: 1_500 }))).rejects.toMatchObject({ kind: 'Timeout' });
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  it('starts nothing without the lease', async () => {
    const beforeSend = (): never => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'no lease' });
    };
    await expect(agent.set(target({}, { beforeSend }), 'closed')).rejects.toMatchObject({ kind: 'NotSent' });
    expect(readFileSync(said, 'utf8')).toBe('');
  });

  it.each(['$(id)', '10.0.0.5; reboot', '-rf', "x' y", 'a b', '`id`', '10.0.0.5\n10.0.0.6', '%target%'])(
    'puts no %j into a command',
    async (client) => {
      await expect(agent.set(target({ client }), 'closed')).rejects.toMatchObject({ kind: 'Misconfigured' });
      expect(readFileSync(said, 'utf8')).toBe('');
    },
  );

  it('keeps the words of a command as they are written: no shell reads them', async () => {
    await agent.set(target({ close_command: 'filer close "a b" $HOME ;' }), 'closed');
    expect(readFileSync(said, 'utf8')).toBe('close a b $HOME ;\n');
  });

  it('does not open what nobody says how to open', async () => {
    const { open_command: _, ...parameters } = PARAMETERS;
    await expect(agent.set({ ...target(), parameters }, 'open')).rejects.toMatchObject({ kind: 'Refused' });
  });

  it.each([
    ['close_command', '  '],
    ['close_command', '""'],
    ['close_command', 'filer "close'],
    ['close_command', '%client% close'],
    ['close_command', 'filer %cleint%'],
    ['closed_match', '/(/'],
    ['closed_match', '/.*/'],
    ['open_match', 'Export list:'],
  ])('finds the mistake in %s=%j before it is needed', (name, value) => {
    expect(storage.check({ ...PARAMETERS, [name]: value }, true)).toMatchObject([{ parameter: name }]);
  });

  it('needs both commands and both lines', () => {
    expect(storage.check({}, true).map(({ parameter }) => parameter)).toEqual(['close_command', 'state_command', 'closed_match', 'open_match']);
  });

  it.skipIf(!isSshdThere)('does the same by SSH on another host, never on the node itself', async () => {
    const sshd = await startOpenSshd();
    const place = {
      ...AWAY,
      ip: '127.0.0.1',
      ipport: String(sshd.port),
      username: sshd.username,
      private_key: sshd.privateKey,
      known_hosts: sshd.knownHosts.ed25519,
      login_timeout: '15',
    };
    try {
      expect(storage.check({ ...PARAMETERS, ...place }, true)).toEqual([]);
      await agent.set(target({ ...place, close_command: `${filer} close %client% %target% "it's a $HOME; \`id\`"` }), 'closed');
      expect(readFileSync(said, 'utf8')).toBe("close 10.0.0.5 /srv/vol1 it's a $HOME; `id`\n");
      expect(await agent.read(target(place))).toMatchObject({ state: 'closed' });
      const victim = await agentWith({
        metadata: { name: 'worker-1' },
        spec: {},
        status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] },
      });
      await expect(victim.read(target(place))).rejects.toMatchObject({ kind: 'Misconfigured', message: expect.stringContaining('itself') as string });
      const bootID = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      const elsewhere = { addresses: [{ type: 'InternalIP', address: '192.0.2.7' }], nodeInfo: { bootID } };
      const hidden = await agentWith({ metadata: { name: 'worker-1' }, spec: {}, status: elsewhere });
      const byBootId = { kind: 'Misconfigured', message: expect.stringContaining('by its boot ID') as string };
      await expect(hidden.read(target(place)), 'the node under another name').rejects.toMatchObject(byBootId);
      await expect(hidden.set(target(place), 'closed')).rejects.toMatchObject(byBootId);
    } finally {
      await agent.close?.();
      await sshd.stop();
    }
  });
});
