import { describe, expect, it } from 'vitest';
import type { Attestation } from '../../../domain/node-daemon/attestation.ts';
import { SIGNS } from '../../../domain/node-daemon/datagram.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import type { AttestedNode } from '../attested-nodes.ts';
import type { Heard } from '../heartbeats.ts';
import { StorageWords } from './storage-words.ts';

interface Daemon {
  says: 'reachable' | 'lost';
  lease?: string;
  isHeard?: boolean;
  /** Of the last heartbeat; it attests `boot-1`. */
  boot?: string;
}

function words(daemons: Readonly<Record<string, Daemon>>): StorageWords {
  const attested = new Map(
    Object.entries(daemons).map(([node, { says, lease }]): [string, AttestedNode] => {
      const attestation: Partial<Attestation> = { bootID: 'boot-1', ...(says === 'reachable' && { storage: 'reachable' }) };
      const storageLease = lease === undefined ? {} : { storageLease: { id: lease } };
      return [node, { node, attestation: { ...attestation, ...storageLease } } as unknown as AttestedNode];
    }),
  );
  const heard = ({ says, boot = 'boot-1' }: Daemon): Heard => ({ bootID: boot, signs: says === 'lost' ? SIGNS.storageLost : 0 }) as unknown as Heard;
  return new StorageWords({
    clock: new ManualClock(),
    nodes: { get: (node) => attested.get(node), all: () => attested.values() },
    heartbeats: {
      last: (node) => (daemons[node] === undefined ? undefined : heard(daemons[node])),
      isHeard: (node) => daemons[node]?.isHeard !== false,
    },
  });
}

describe('what daemons say of the storage of one node', () => {
  it('is its own word, and that of its peers', () => {
    expect(words({ a: { says: 'lost' }, b: { says: 'reachable' } }).of('a')).toEqual({ hostReaches: false, peersReach: true });
    expect(words({ a: { says: 'reachable' }, b: { says: 'lost' } }).of('a')).toEqual({ hostReaches: true, peersReach: false });
  });

  it('is no word of a boot that is over', () => {
    expect(words({ a: { says: 'reachable', boot: 'boot-0' } }).of('a').hostReaches).toBeUndefined();
    expect(words({ a: { says: 'lost' }, b: { says: 'lost', boot: 'boot-0' } }).of('a').peersReach).toBeUndefined();
  });

  it('is no last word of one that is silent now', () => {
    expect(words({ a: { says: 'lost', isHeard: false }, b: { says: 'lost', isHeard: false } }).of('a')).toEqual({});
  });

  it('is told by those of its own storage lease alone, where it has one', () => {
    const daemons: Record<string, Daemon> = {
      a: { says: 'lost', lease: 'x' },
      b: { says: 'lost', lease: 'x' },
      c: { says: 'reachable', lease: 'y' },
    };
    expect(words(daemons).of('a').peersReach).toBe(false);
    expect(words({ ...daemons, a: { says: 'lost' } }).of('a').peersReach).toBe(true);
    expect(words({ a: { says: 'lost', lease: 'z' }, c: { says: 'reachable', lease: 'y' } }).of('a').peersReach).toBeUndefined();
  });
});
