import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { DIALECTS, type DialectName } from './dialects.ts';

/** The part of a long answer that is about one port, as the switch prints it when it is asked for that port. */
function part(name: string, first: string): string[] {
  const lines = readFileSync(new URL(`fixtures/${name}.txt`, import.meta.url), 'utf8').split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith(first));
  if (start < 0) throw new Error(`${name} has no ${first}`);
  const next = lines.findIndex((line, at) => at > start && /^\S+ is |^Physical interface/.test(line));
  return lines.slice(start, next < 0 ? undefined : next);
}

/** Of those below that are up. */
const LINKED: ReadonlySet<string> = new Set([
  'GigabitEthernet0/1 ',
  'Ethernet2 ',
  'Ethernet1/1 is up',
  'Ethernet1/49 is up',
  'Physical interface: ge-0/0/0',
]);

describe('what real switches print', () => {
  it.each([
    ['ios', 'cisco-ios', 'GigabitEthernet0/1 ', 'open', 'to iosvl2-2'],
    ['ios', 'cisco-ios', 'GigabitEthernet0/2 is admin', 'closed', 'Port'],
    ['ios', 'cisco-ios', 'GigabitEthernet0/0 is reset', 'unknown', undefined],
    ['ios', 'cisco-ios', 'Port-channel1 is down', 'open', undefined],
    ['eos', 'arista-eos', 'Ethernet2 ', 'open', 'Connects to Ethernet1 on localhost'],
    ['eos', 'arista-eos', 'Ethernet49/1 is administratively down', 'unknown', undefined],
    ['eos', 'arista-eos-portchannel', 'Port-Channel1 is down', 'open', undefined],
    ['eos', 'arista-eos-portchannel', 'Ethernet52 is down', 'open', undefined],
    ['nxos', 'cisco-nxos', 'Ethernet1/1 is up', 'open', undefined],
    ['nxos', 'cisco-nxos', 'Ethernet1/2 is down (Link not connected)', 'open', undefined],
    ['nxos', 'cisco-nxos', 'Ethernet1/49 is up', 'open', '*** OOB-MGMT CORE UPLINKS ***'],
    ['nxos', 'cisco-nxos', 'Ethernet1/54 is down (XCVR not inserted)', 'unknown', undefined],
    ['nxos', 'cisco-nxos', 'fc4/11 is down', 'open', 'UCS Cisco Fiber-Channel (FI-B Port 31)'],
    ['junos', 'juniper-junos', 'Physical interface: ge-0/0/0', 'open', 'Test'],
  ] as const)('%s: %s, "%s" is %s', (dialect: DialectName, file, first, state, description) => {
    const view = DIALECTS[dialect].read(part(file, first));
    expect(view).toMatchObject({
      state,
      hasLink: LINKED.has(first),
      ...(description !== undefined && { description }),
    });
  });

  it.each([
    ['ios', ['Gi1 is administratively down, line protocol is up']],
    ['eos', ['Ethernet1 is administratively down, line protocol is up (connected)']],
    ['nxos', ['Ethernet1/1 is up', 'admin state is down, Dedicated Interface']],
    ['junos', ['Physical interface: ge-0/0/0, Administratively down, Physical link is Up']],
  ] as const)('%s: a port that is configured down and still up is pending', (dialect, lines) => {
    expect(DIALECTS[dialect].read(lines)?.state).toBe('pending');
  });

  it.each([
    ['ios', ['Gi1 is administratively down, line protocol is down', 'Gi1 is up, line protocol is up']],
    ['ios', ['Gi1 is administratively down, line protocol is sleeping']],
    ['ios', ['Gi1 is administratively down, line protocol is down, or is it?']],
    ['ios', ['Gi1 is administratively']],
    ['nxos', ['Ethernet1/1 is down (Administratively down)', 'admin state is up, Dedicated Interface']],
    ['nxos', ['Ethernet1/1 is down (Link not connected)', 'admin state is down, Dedicated Interface']],
    ['nxos', ['Ethernet1/1 is down (Administratively down)', 'admin state is down', 'admin state is up']],
    ['nxos', ['Ethernet1/1 is down (Administ']],
    ['junos', ['Physical interface: ge-0/0/0, Administratively down, Physical link is']],
    [
      'junos',
      ['Physical interface: ge-0/0/0, Administratively down, Physical link is Down', 'Physical interface: ge-0/0/1, Enabled, Physical link is Up'],
    ],
    ['junos', []],
  ] as const)('%s: %j says nothing', (dialect, lines) => {
    const state = DIALECTS[dialect].read(lines)?.state ?? 'unknown';
    expect(state).toBe('unknown');
  });
});
