import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Pod } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeLister } from '../fence/testing/harness.ts';
import { drainNode } from './drain-run.ts';

const NODE = { kind: 'Node' as const, name: 'a', uid: 'uid-a' };
const OPTIONS = { isForced: false, timeoutMs: 600_000, evictionRetriesMax: 5 };

function podOn(nodeName: string, uid: string): Pod {
  return { metadata: { name: 'web-0', namespace: 'default', uid }, spec: { nodeName } };
}

/** One pod by its name, as an API server holds it. */
class OnePod {
  standing: Pod | undefined = podOn('a', 'old');

  asCluster(): Cluster {
    const cluster: Pick<Cluster, 'list' | 'evict'> = {
      list: (_resource, options) => {
        const here = this.standing !== undefined && options?.fieldSelector === `spec.nodeName=${this.standing.spec.nodeName ?? ''}`;
        return Promise.resolve((here ? [this.standing] : []) as never);
      },
      evict: (_name, _namespace, { uid } = {}) => {
        if (uid !== undefined && uid !== this.standing?.metadata.uid) return Promise.reject(new ApiStatusError(409, 'Conflict', 'another uid'));
        this.standing = undefined;
        return Promise.resolve();
      },
    };
    return cluster as Cluster;
  }
}

async function drained(server: OnePod, beforeWrite: () => void): Promise<string | undefined> {
  const clock = new ManualClock();
  const mayWrite = (): boolean => {
    beforeWrite();
    return true;
  };
  const reach = { clock, cluster: server.asCluster(), pods: new FakeLister<Pod>(), proofs, mayWrite };
  const draining = drainNode(reach, { node: NODE, options: OPTIONS }, new AbortController().signal);
  await clock.advance(5_000);
  return draining;
}

/** A gentle drain asks for none. */
const proofs = { readAnew: () => Promise.reject(new Error('nobody asked for a proof')) };

describe('a gentle drain', () => {
  it('evicts the pod that it saw', async () => {
    const server = new OnePod();
    expect(await drained(server, () => undefined)).toBeUndefined();
    expect(server.standing).toBeUndefined();
  });

  it('leaves the one alone that came back under the same name on another node, and ends', async () => {
    const server = new OnePod();
    const successor = podOn('b', 'new');
    expect(await drained(server, () => (server.standing = successor))).toBeUndefined();
    expect(server.standing).toBe(successor);
  });
});

describe('an eviction that hangs behind a webhook', () => {
  /** Pods whose evictions are answered when the test says so; the rest goes at once. */
  function crowd(count: number, hangs: (name: string) => boolean) {
    const clock = new ManualClock();
    const standing = new Map(Array.from({ length: count }, (_pod, index) => [`web-${String(index)}`, index]));
    const asked: string[] = [];
    const options: unknown[] = [];
    const answers = new Map<string, () => void>();
    const pods = (): Pod[] => [...standing.keys()].map((name) => ({ metadata: { name, uid: name }, spec: { nodeName: 'a' } }));
    const cluster: Pick<Cluster, 'list' | 'evict'> = {
      list: () => Promise.resolve(pods() as never),
      evict: (name, _namespace, how) => {
        asked.push(name);
        options.push(how);
        if (!hangs(name)) {
          standing.delete(name);
          return Promise.resolve();
        }
        return new Promise((resolve) => {
          answers.set(name, () => {
            standing.delete(name);
            resolve();
          });
        });
      },
    };
    const reach = { clock, cluster: cluster as Cluster, pods: new FakeLister<Pod>(), proofs, mayWrite: () => true };
    const drain = drainNode(reach, { node: NODE, options: OPTIONS }, new AbortController().signal);
    return { clock, standing, asked, options, answers, drain };
  }

  it('keeps none of the others, is asked once, and is waited for to its end', async () => {
    const { clock, standing, asked, options, answers, drain } = crowd(40, (name) => name === 'web-0');
    await clock.advance(3_000);
    expect([...standing.keys()]).toEqual(['web-0']);
    await clock.advance(30_000);
    expect(asked.filter((name) => name === 'web-0')).toHaveLength(1);
    answers.get('web-0')?.();
    await clock.advance(30_000);
    expect(await drain).toBeUndefined();
    expect(options).toContainEqual({ uid: 'web-0', mayBeLate: true });
  });

  it('takes a place of a few, and the next pod has it when it is answered', async () => {
    const { clock, standing, asked, answers, drain } = crowd(40, () => true);
    await clock.advance(10_000);
    expect(asked).toHaveLength(24);
    for (const name of [...answers.keys()].slice(0, 3)) answers.get(name)?.();
    await clock.advance(3_000);
    expect(asked).toHaveLength(27);
    while (standing.size > 0) {
      for (const answer of answers.values()) answer();
      await clock.advance(3_000);
    }
    await clock.advance(30_000);
    expect(await drain).toBeUndefined();
    expect(asked).toHaveLength(40);
  });

  it('is given up as any other where the pod has no grace: it would be gone at once, ended or not', async () => {
    const evicted: unknown[] = [];
    const cluster: Pick<Cluster, 'list' | 'evict'> = {
      list: () => {
        const pod: Pod = { metadata: { name: 'web-0', uid: 'u' }, spec: { nodeName: 'a', terminationGracePeriodSeconds: 0 } };
        return Promise.resolve((evicted.length === 0 ? [pod] : []) as never);
      },
      evict: (_name, _namespace, how) => {
        evicted.push(how);
        return Promise.resolve();
      },
    };
    const clock = new ManualClock();
    const reach = { clock, cluster: cluster as Cluster, pods: new FakeLister<Pod>(), proofs, mayWrite: () => true };
    const drain = drainNode(reach, { node: NODE, options: OPTIONS }, new AbortController().signal);
    await clock.advance(30_000);
    await drain;
    expect(evicted).toEqual([{ uid: 'u', mayBeLate: false }]);
  });
});
