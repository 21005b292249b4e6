import { describe, expect, it } from 'vitest';
import { listed } from '../../src/cli/commands/listed-cluster.ts';
import { Claims } from '../../src/controllers/machine-health-check/claims.ts';
import { LOCK_HOLDER as MACHINE_REMEDIATION } from '../../src/controllers/machine-remediation/names.ts';
import { LOCK_HOLDER as METAL3_REMEDIATION } from '../../src/controllers/metal3-remediation/dependencies.ts';
import { claim, ownerOf, releaseClaim } from '../../src/controllers/shared/claims/claim.ts';
import type { Asked, Claimant } from '../../src/controllers/shared/claims/claim.ts';
import { LeasePlace } from '../../src/controllers/shared/claims/lease-place.ts';
import { NodeLeases } from '../../src/controllers/shared/claims/node-leases.ts';
import { NodeLock } from '../../src/controllers/shared/claims/node-lock.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { ApiStatusError } from '../../src/ports/api-transport.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import { LEASES, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';

const NAMESPACE = 'medik8s-leases';
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const NODE = 'a';
const SEEDS = 25;
const quiet = (): void => undefined;
const LOG = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** One controller that acts on nodes, as far as taking one goes. */
interface Taker {
  /** Has it the node, so that it may act? `undefined`: yes; else who has it, in words. */
  take: () => Promise<string | undefined>;
  giveBack: () => Promise<unknown>;
}

/** What the others are told of the one that has the node. */
interface Kind {
  words: RegExp;
  taker: (cluster: Cluster, clock: ManualClock) => Taker;
}

function claimantOf(kind: string): Claimant {
  return { apiVersion: 'example.io/v1', kind, namespace: 'default', name: 'm1', uid: `uid-of-${kind}` };
}

/** Whoever asks for a fence acts by it: the fence controller takes the node lease before it isolates anything. */
function byFence(kind: string, asked: Asked = {}): Kind {
  const claimant = claimantOf(kind);
  return {
    words: new RegExp(`^${kind} default/m1$`),
    taker: (cluster, clock) => ({
      take: async () => {
        const outcome = await claim({ cluster, recorder: { event: quiet } }, NODE, claimant, asked);
        return outcome.kind === 'taken' ? outcome.by : leasesOf(cluster, clock).take(NODE, claimant);
      },
      giveBack: async () => {
        await releaseClaim({ cluster }, NODE, claimant);
        await letGo(cluster);
      },
    }),
  };
}

/** A node that failed by itself. */
const FENCE: Kind = {
  words: /^the fence controller/,
  taker: (cluster, clock) => ({
    take: async () => {
      const object = { metadata: { name: fenceName(NODE), finalizers: ['nodefence.ha.k8s.io/protect'] }, spec: { node: NODE } };
      try {
        await cluster.create(NODE_FENCES, object);
      } catch (error) {
        if (!(error instanceof ApiStatusError) || error.status !== 409) throw error;
        const standing = await cluster.get(NODE_FENCES, fenceName(NODE));
        const by = standing === undefined ? 'nobody any more' : ownerOf(standing);
        // It finds its own again.
        if (standing?.spec.requestedBy !== undefined) return by;
      }
      return leasesOf(cluster, clock).take(NODE, undefined);
    },
    giveBack: async () => {
      await cluster.remove(NODE_FENCES, fenceName(NODE), {});
      await letGo(cluster);
    },
  }),
};

/** A controller without a fence. */
function byLock(holder: string): Kind {
  return {
    words: new RegExp(`of ${holder}`),
    taker: (cluster, clock) => {
      const lock = new NodeLock({ cluster, clock, namespace: NAMESPACE, holder });
      return { take: () => lock.take(NODE, false), giveBack: () => lock.giveBack(NODE) };
    },
  };
}

const KINDS: Readonly<Record<string, Kind>> = {
  fence: FENCE,
  preservation: byFence('Machine', { ending: 'off' }),
  NodeFenceRemediation: byFence('NodeFenceRemediation'),
  'machine-remediation': byLock(MACHINE_REMEDIATION),
  'machine-remediation by a fence': byFence('RemediatedMachine'),
  'metal3-remediation': byLock(METAL3_REMEDIATION),
};

const PAIRS = Object.keys(KINDS).flatMap((first) =>
  Object.keys(KINDS)
    .filter((second) => second !== first)
    .map((second) => [first, second] as const),
);

function kindOf(name: string): Kind {
  const kind = KINDS[name];
  if (kind === undefined) throw new Error(`there is no ${name}`);
  return kind;
}

/** As the fence controller has them: what a consistent read shows decides. */
function leasesOf(cluster: Cluster, clock: ManualClock): NodeLeases {
  const none = { leases: listed<never>([]), nodes: listed<never>([]), fences: listed<never>([]) };
  const place = new LeasePlace({ cluster, clock, log: LOG, namespace: NAMESPACE });
  return new NodeLeases({ cluster, clock, log: LOG, place, leadership: { isLeading: true }, namespace: NAMESPACE, wake: quiet, ...none });
}

/** The fence controller has taken everything back, and lets both go. */
async function letGo(cluster: Cluster): Promise<void> {
  if ((await cluster.get(NODE_FENCES, fenceName(NODE))) !== undefined) {
    await cluster.mergePatch(NODE_FENCES, fenceName(NODE), { metadata: { finalizers: [] } });
  }
  const lease = await cluster.get(LEASES, `node-${NODE}`, NAMESPACE);
  if (lease?.spec.holderIdentity === 'nodefence') await cluster.remove(LEASES, `node-${NODE}`, { namespace: NAMESPACE });
}

interface Site {
  clock: ManualClock;
  cluster: Cluster;
  /** Every request of its own takes as long as chance says. */
  hurried: (seed: number) => Cluster;
}

async function siteOf(): Promise<Site> {
  const clock = new ManualClock();
  const server = new ApiServer({ clock, random: testRandom(), users: [{ name: 'admin', groups: ['system:masters'] }], authorization: 'rbac' });
  const transport = inProcessTransport(server, 'admin');
  const cluster = new ApiClient({ transport });
  await install({ transport, cluster });
  if ((await cluster.get(NAMESPACES, NAMESPACE)) === undefined) await cluster.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await cluster.create(NODES, { metadata: { name: NODE }, spec: {}, status: {} });
  const hurried = (seed: number): Cluster => {
    const random = testRandom(seed);
    const wait = async (): Promise<void> => {
      for (let turns = Math.floor(random.next() * 12); turns > 0; turns -= 1) await Promise.resolve();
    };
    const slow: ApiTransport = {
      request: async (request) => {
        await wait();
        const response = await transport.request(request);
        await wait();
        return response;
      },
      watch: (request, sink) => transport.watch(request, sink),
    };
    return new ApiClient({ transport: slow });
  };
  return { clock, cluster, hurried };
}

describe('Of two that want one node', { timeout: 60_000 }, () => {
  it.each(PAIRS)('%s has it and %s waits, is told who has it, and gets it afterwards', async (first, second) => {
    const { clock, cluster } = await siteOf();
    const [one, other] = [kindOf(first), kindOf(second)];
    const [holder, waiter] = [one.taker(cluster, clock), other.taker(cluster, clock)];
    expect(await holder.take()).toBeUndefined();
    expect(await holder.take(), 'it keeps what it has').toBeUndefined();
    expect(await waiter.take()).toMatch(one.words);
    await waiter.giveBack().catch((error: unknown) => {
      if (!(error instanceof ApiStatusError)) throw error;
    });
    await holder.giveBack();
    expect(await waiter.take()).toBeUndefined();
  });

  it.each(PAIRS)('%s and %s at once, one has it at the most', async (first, second) => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { clock, hurried } = await siteOf();
      const takers = [kindOf(first).taker(hurried(seed), clock), kindOf(second).taker(hurried(seed + 1_000), clock)];
      const answers = await Promise.all(
        takers.map((taker) =>
          taker.take().catch((error: unknown) => {
            if (!(error instanceof ApiStatusError)) throw error;
            return 'overtaken';
          }),
        ),
      );
      expect(answers.filter((answer) => answer === undefined).length, `seed ${seed}: ${JSON.stringify(answers)}`).toBeLessThanOrEqual(1);
    }
  });
});

describe('A health check', { timeout: 60_000 }, () => {
  it.each(Object.keys(KINDS))('asks for nothing while %s has the node, and knows who that is', async (name) => {
    const { clock, cluster } = await siteOf();
    const taker = kindOf(name).taker(cluster, clock);
    await taker.take();
    const sources = {
      clock,
      fences: listed(await cluster.list(NODE_FENCES)),
      nodeLeases: listed(await cluster.list(LEASES, { namespace: NAMESPACE })),
    };
    const claims = new Claims(sources);
    expect(claims.renew()).toEqual([NODE]);
    expect(claims.holderOf(NODE)).toMatch(kindOf(name).words);
    expect(claims.renew()).toEqual([]);
  });
});
