import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

import { configurationOf } from '../../src/config/configuration.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import { AgentError } from '../../src/ports/agents.ts';
import type { FabricAgent, Target } from '../../src/ports/agents.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { standardRegistry } from '../registry.ts';
import { ProgramFolder } from '../shared/process/program-folder.ts';
import { parseRanges, type AddressRange } from './address-range.ts';
import { blocklistArguments, parseBlocklist, portOf } from './blocklist.ts';
import { cephWith } from './definition.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const LATE = '2027-01-01T00:00:00.000000+0000';

function ranges(text: string): AddressRange[] {
  const parsed = parseRanges(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

function entries(...all: [addr: string, until: string][]): string {
  return JSON.stringify(all.map(([addr, until]) => ({ addr, until })));
}

describe('the blocklist', () => {
  it.each([
    ['the address', '10.0.0.5', entries(['10.0.0.5:0/0', LATE]), 'closed'],
    ['nothing', '10.0.0.5', '[]', 'open'],
    ['one client of the address only', '10.0.0.5', entries(['10.0.0.5:6800/4711', LATE]), 'open'],
    ['an address that begins alike', '10.0.0.5', entries(['10.0.0.50:0/0', LATE]), 'open'],
    ['one of two', '10.0.0.5 10.0.0.6', entries(['10.0.0.5:0/0', LATE]), 'open'],
    ['both', '10.0.0.5 10.0.0.6', entries(['10.0.0.6:0/0', LATE], ['10.0.0.5:0/0', LATE]), 'closed'],
    ['an address of the sixth version', 'fd00::5', entries(['[fd00::5]:0/0', LATE]), 'closed'],
    ['an address of the sixth version that was written at length', 'FD00:0:0::0005', entries(['[fd00::5]:0/0', LATE]), 'closed'],
    ['a range of the sixth version that was written at length', 'fd00:0::/64', entries(['cidr:[fd00::]:0/64', LATE]), 'closed'],
    ['a range, in the second list', '10.0.0.0/28', `[]\n${entries(['cidr:10.0.0.0:0/28', LATE])}`, 'closed'],
    ['a client whose nonce looks like the range', '10.0.0.0/28', entries(['10.0.0.0:0/28', LATE]), 'open'],
    ['an entry that ends soon', '10.0.0.5', entries(['10.0.0.5:0/0', '2026-01-01T00:09:59+0000']), 'open'],
    ['an entry that ends in time enough', '10.0.0.5', entries(['10.0.0.5:0/0', '2026-01-01T00:10:00+0000']), 'closed'],
    ['an end without a zone', '10.0.0.5', entries(['10.0.0.5:0/0', '2027-01-01 00:00:00']), 'unknown'],
    ['words', '10.0.0.5', 'listed 0 entries', 'unknown'],
    ['half an answer', '10.0.0.5', entries(['10.0.0.5:0/0', LATE]).slice(0, -9), 'unknown'],
    ['a list of something else', '10.0.0.5', '[{"address":"10.0.0.5"}]', 'unknown'],
    ['an object', '10.0.0.5', '{}', 'unknown'],
    ['no answer', '10.0.0.5', '', 'unknown'],
  ])('that holds %s', (_what, wanted, text, state) => {
    expect(portOf(text, ranges(wanted), NOW_MS).state).toBe(state);
  });

  it('is read as one list, or as two one after the other', () => {
    expect(parseBlocklist('[]')).toEqual([]);
    expect(parseBlocklist('[]\n[]')).toEqual([]);
    expect(parseBlocklist('[[]]')).toEqual([]);
    expect(parseBlocklist('null')).toBeUndefined();
  });

  it('is changed by one command for an address, another for a range', () => {
    expect(ranges('10.0.0.5').map((range) => blocklistArguments(range, 'closed', 3_600_500))).toEqual([
      ['osd', 'blocklist', 'add', '10.0.0.5', '3601'],
    ]);
    expect(ranges('10.0.0.0/28').map((range) => blocklistArguments(range, 'open', 0))).toEqual([['osd', 'blocklist', 'range', 'rm', '10.0.0.0/28']]);
  });
});

const KEY = '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----';

describe('ceph by its program', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-ceph-'));
  const program = join(folder, 'ceph');
  const ceph = cephWith(new ProgramFolder({ kind: 'folder', path: folder }));
  const list = join(folder, 'list');
  const said = join(folder, 'said');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  let agent: FabricAgent;
  beforeEach(async () => {
    writeFileSync(list, '[]');
    writeFileSync(said, '');
    script('case "$*" in', `  *blocklist\\ ls*) cat ${list}; echo "listed 1 entries" >&2 ;;`, '  *) echo "blocklisting" >&2 ;;', 'esac');
    const node = { metadata: { name: 'worker-1' }, spec: {}, status: { addresses: [{ type: 'InternalIP', address: '10.0.0.5' }] } };
    const cluster = { get: () => Promise.resolve(node) } as unknown as Cluster;
    const created = await ceph.create({ cluster, clock: new SystemClock() });
    if (created.kind !== 'fabric') throw new Error('not a fabric agent');
    agent = created;
  });

  /** No Ceph can be had here: a program that keeps what it was told, and says what its file holds. */
  function script(...lines: string[]): void {
    writeFileSync(program, ['#!/bin/sh', `echo "$*" >> ${said}`, ...lines].join('\n'));
    chmodSync(program, 0o755);
  }

  function target(change: Partial<Target> = {}): Target {
    return {
      plug: '10.0.0.5',
      device: 'ceph exec',
      parameters: { via: 'exec', arguments: '--id fence' },
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 20_000,
      beforeSend: () => undefined,
      ...change,
    };
  }

  it('is told the address and the end, and is read back', async () => {
    expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'accepted' });
    expect(readFileSync(said, 'utf8')).toBe('--id fence osd blocklist add 10.0.0.5 31536000\n');
    expect(await agent.read(target()), 'the command alone proves nothing').toMatchObject({ state: 'open', identity: 'verified' });
    writeFileSync(list, entries(['10.0.0.5:0/0', '2999-01-01T00:00:00+0000']));
    expect(await agent.read(target())).toMatchObject({ state: 'closed' });
    await agent.set(target(), 'open');
    expect(readFileSync(said, 'utf8')).toContain('--id fence osd blocklist rm 10.0.0.5\n');
  });

  it('is told every address, not the first alone', async () => {
    await agent.set(target({ plug: '10.0.0.5 10.0.0.6', parameters: { via: 'exec', arguments: '--id fence' } }), 'closed');
    expect(readFileSync(said, 'utf8')).toBe('--id fence osd blocklist add 10.0.0.5 31536000\n--id fence osd blocklist add 10.0.0.6 31536000\n');
  });

  it('may have changed the list where it was killed, and is told the other addresses all the same', async () => {
    script('case "$*" in', '  *10.0.0.5*) kill -9 $$ ;;', 'esac');
    expect(await agent.set(target({ plug: '10.0.0.5 10.0.0.6', parameters: { via: 'exec', arguments: '--id fence' } }), 'closed')).toMatchObject({
      result: 'unclear',
    });
    expect(readFileSync(said, 'utf8')).toContain('blocklist add 10.0.0.6');
  });

  it('refuses in its own words', async () => {
    script('echo "Error EACCES: access denied" >&2', 'exit 13');
    await expect(agent.set(target(), 'closed')).rejects.toMatchObject({ kind: 'Refused', message: expect.stringContaining('EACCES') as string });
    await expect(agent.read(target())).rejects.toMatchObject({ kind: 'Unreachable' });
  });

  it('is killed when it does not end, and says so', async () => {
    script('sleep 600');
    await expect(agent.read(target({ deadlineMs: 1_500 }))).rejects.toMatchObject({ kind: 'Timeout' });
  });

  it('that is not there is a mistake in the configuration', async () => {
    const parameters = { via: 'exec', program: 'none' };
    await expect(agent.read(target({ parameters }))).rejects.toMatchObject({ kind: 'Misconfigured' });
  });

  it('is not started without the lease', async () => {
    const beforeSend = (): never => {
      throw new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'no lease' });
    };
    await expect(agent.set(target({ beforeSend }), 'closed')).rejects.toMatchObject({ kind: 'NotSent' });
    expect(readFileSync(said, 'utf8')).toBe('');
  });

  it.each(['--id fence; rm -rf /', '$(id)', '--id `id`'])('takes no argument that a shell would read: %s', (text) => {
    expect(
      ceph.check({ via: 'exec', ip: '192.0.2.9', username: 'fence', private_key: KEY, known_hosts: 'insecure', arguments: text }, true),
    ).toMatchObject([{ parameter: 'arguments' }]);
  });

  it.each(['-c /etc/ceph/ceph.conf', '-k ../keyring', '-c', '--setuser root', '--log-file x', '-n -c', 'osd out'])(
    'takes no argument here that names a file of its own choice: %s',
    async (text) => {
      expect(ceph.check({ via: 'exec', arguments: text }, true)).toMatchObject([{ parameter: 'arguments' }]);
      await expect(agent.read(target({ parameters: { via: 'exec', arguments: text } }))).rejects.toMatchObject({ kind: 'Misconfigured' });
      expect(readFileSync(said, 'utf8')).toBe('');
    },
  );

  it('is given a file of the folder by its name, as the file itself', async () => {
    writeFileSync(join(folder, 'ceph.conf'), '', { mode: 0o644 });
    await agent.read(target({ parameters: { via: 'exec', arguments: '-n client.fence -c ceph.conf' } }));
    expect(readFileSync(said, 'utf8')).toContain(`-n client.fence -c ${join(folder, 'ceph.conf')} osd blocklist ls`);
  });

  it('may not forget the node while a fence of it can still last', () => {
    const plan = (expiry: string) => {
      const properties = { 'config.properties': 'isolation=shut\npower_management=' };
      const method = `agent_name=ceph\nvia=exec\nplug=10.0.0.5\naction=off\nstorage=rbd\nstorage_match=driver:rbd.csi.ceph.com\nexpiry=${expiry}`;
      const configuration = configurationOf(
        [{ name: 'fence-config-worker-1', data: { ...properties, 'fence-method-shut': method } }],
        standardRegistry({ kind: 'folder', path: folder }),
      );
      return resolvePlan({ node: { name: 'worker-1', labels: {}, annotations: {}, addresses: [] }, configuration }).problems.filter(({ message }) =>
        message.includes('blocklist forgets'),
      );
    };
    expect(plan('365d')).toEqual([]);
    expect(plan('5m')).toMatchObject([{ severity: 'error', step: 'isolation' }, { step: 'power-management' }]);
  });
});
