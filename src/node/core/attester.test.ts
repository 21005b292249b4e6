import { describe, expect, it } from 'vitest';

import { ATTESTATION, PEERS } from '../../domain/node-daemon/attestation.ts';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { Cluster, Resource } from '../../ports/cluster.ts';
import type { KubeObject, Lease } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Attester } from './attester.ts';
import { DaemonTimes } from './daemon-times.ts';
import type { Said } from './attester.ts';

type Fate = 'answered' | 'answer lost' | 'lost';

/** One Lease, and for each write whether it arrives and whether its answer does. */
class OneLease {
  readonly fates: Fate[] = [];
  stored: Lease | undefined;
  #version = 0;

  tell(...nodes: string[]): void {
    const peers = nodes.map((node) => ({ node, publicKey: 'A'.repeat(43), address: `${node}:7411` }));
    this.#store({ [PEERS]: JSON.stringify({ peers }) });
  }

  tellOf(node: string, domain: string): void {
    const peers = [{ node, publicKey: 'A'.repeat(43), address: `${node}:7411`, domain }];
    this.#store({ [PEERS]: JSON.stringify({ peers }) });
  }

  /** Called when a write comes. */
  onWrite: () => void = () => undefined;

  get attestedDomains(): unknown {
    return (JSON.parse(this.stored?.metadata.annotations?.[ATTESTATION] ?? '{}') as { domains?: unknown }).domains;
  }

  get attested(): string[] {
    return (JSON.parse(this.stored?.metadata.annotations?.[ATTESTATION] ?? '{"peers":[]}') as { peers: string[] }).peers;
  }

  readonly cluster: Pick<Cluster, 'get' | 'create' | 'mergePatch'> = {
    get: <T extends KubeObject>() => Promise.resolve(structuredClone(this.stored) as T | undefined),
    create: async <T extends KubeObject>(_kind: Resource<T>, object: T) => this.#write<T>(object.metadata),
    mergePatch: async <T extends KubeObject>(_kind: Resource<T>, _name: string, patch: object) => this.#write<T>((patch as KubeObject).metadata),
  };

  #store(annotations: Readonly<Record<string, string>>): void {
    this.#version += 1;
    const metadata = {
      name: 'nodefence-node-a',
      resourceVersion: String(this.#version),
      annotations: { ...this.stored?.metadata.annotations, ...annotations },
    };
    this.stored = { metadata, spec: {} };
  }

  #write<T extends KubeObject>({ resourceVersion, annotations = {} }: KubeObject['metadata']): Promise<T> {
    this.onWrite();
    const fate = this.fates.shift() ?? 'answered';
    if (fate === 'lost') return Promise.reject(new TransportError('timeout', 'it did not arrive'));
    if (resourceVersion !== this.stored?.metadata.resourceVersion) return Promise.reject(new ApiStatusError(409, 'Conflict', 'has moved'));
    this.#store(annotations);
    return fate === 'answer lost'
      ? Promise.reject(new TransportError('timeout', 'no answer'))
      : Promise.resolve(structuredClone(this.stored) as unknown as T);
  }
}

describe('Attester', () => {
  const clock = new ManualClock();
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

  function attesterOf(lease: OneLease, say: () => Said = () => ({ bootID: 'boot-1', systemUUID: 'uuid' }), cluster = lease.cluster): Attester {
    const options = { node: 'a', namespace: 'fences', times: new DaemonTimes({}) };
    return new Attester({ clock, cluster, log: silent }, options, say, () => undefined);
  }

  it.each<[string, Fate[], string[]]>([
    ['it arrived, its answer did not', ['answer lost'], ['c']],
    ['it did not arrive', ['lost'], ['c']],
    ['the next one arrived neither', ['answer lost', 'lost'], ['c']],
    ['both were answered', ['answered', 'answered'], ['c', 'd']],
  ])('accepts only peers that stand in every write that may have arrived: %s', async (_, fates, accepted) => {
    const lease = new OneLease();
    lease.tell('b', 'c');
    const attester = attesterOf(lease);
    attester.start();
    await clock.advance(1);
    expect([lease.attested, attester.accepted]).toEqual([
      ['b', 'c'],
      ['b', 'c'],
    ]);
    lease.tell('c', 'd');
    // The first write of the next round is refused, for the controller wrote; it reads, and writes anew.
    lease.fates.push('answered', ...fates);
    await clock.advance(30_000 + 1_000 * (fates.length - 1) * 2);
    expect(attester.accepted).toEqual(accepted);
    for (const peer of attester.accepted) expect(lease.attested).toContain(peer);
    expect(lease.attested).not.toEqual([]);
  });

  it.each<[string, Fate[], string[]]>([
    ['it arrived, its answer did not', ['answer lost'], ['r1', 'r2']],
    ['it did not arrive', ['lost'], ['r1', 'r2']],
    ['it was answered', ['answered', 'answered'], ['r2']],
  ])('counts by each of the failure domains that may be attested: %s', async (_, fates, expected) => {
    const lease = new OneLease();
    lease.tellOf('b', 'r1');
    const known: string[] = [];
    const attester = attesterOf(lease);
    const racks = (): string[] => attester.counted.map(({ peers }) => peers[0]?.domain ?? '');
    attester.start();
    await clock.advance(1);
    expect([racks(), lease.attestedDomains]).toEqual([['r1'], { b: 'r1' }]);
    lease.tellOf('b', 'r2');
    lease.onWrite = () => known.push(racks().join());
    lease.fates.push('answered', ...fates);
    await clock.advance(30_000 + 1_000 * (fates.length - 1) * 2);
    expect(racks()).toEqual(expected);
    expect(known[1], 'before the write left').toBe('r1,r2');
  });

  it('says what goes wrong until it goes well', async () => {
    const lease = new OneLease();
    lease.fates.push('lost');
    const attester = attesterOf(lease);
    attester.start();
    await clock.advance(1);
    expect(attester.problem).toBe('the attestation cannot be written: it did not arrive');
    await clock.advance(2_000);
    expect(attester.problem).toBeUndefined();
  });

  it('ends with what is true then, though the writes before were lost', async () => {
    const lease = new OneLease();
    let bootID = 'armed';
    const attester = attesterOf(lease, () => ({ bootID, systemUUID: 'uuid' }));
    attester.start();
    await clock.advance(1);
    bootID = 'disarmed';
    lease.fates.push('lost', 'lost');
    const ended = attester.end(20_000);
    await clock.advance(10_000);
    expect(await ended).toBe(true);
    expect(lease.stored?.metadata.annotations?.[ATTESTATION]).toContain('disarmed');
    const { stored } = lease;
    await clock.advance(300_000);
    expect(lease.stored).toBe(stored);
  });

  it('says at once what changed while a write was under way, however soon that is answered', async () => {
    const lease = new OneLease();
    let bootID = 'boot-1';
    let answer: () => void = () => undefined;
    const patch = lease.cluster.create;
    const held: typeof patch = async (kind, object) => {
      const written = await patch(kind, object);
      await new Promise<void>((resolve) => (answer = resolve));
      return written;
    };
    const attester = attesterOf(lease, () => ({ bootID, systemUUID: 'uuid' }), { ...lease.cluster, create: held });
    attester.start();
    await clock.advance(1);
    bootID = 'boot-2';
    attester.wake();
    answer();
    await clock.advance(1_000);
    expect(attester.acknowledged?.bootID).toBe('boot-2');
    await attester.end(1);
  });
});
