import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LEADER_LEASE } from '../../src/manager/composition.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { LEASES } from '../../src/ports/resources.ts';
import { FENCE_NAMESPACE } from './configuration.ts';
import { Daemon } from './daemon.ts';
import { ServedWorld } from './served-world.ts';
import { until } from './waiting.ts';
import { CONTROLLER_USER } from './witness.ts';

const OUTAGE_MS = 60_000;
/** What a replica watches: resource, and its namespace where it is one alone. There is no namespace medik8s-leases here. */
const WATCHED = [
  'configmaps nodefence-system',
  'leases.coordination.k8s.io kube-node-lease',
  // The replicas' Leases, and that of the leader alone.
  'leases.coordination.k8s.io nodefence-system',
  'leases.coordination.k8s.io nodefence-system',
  'nodefenceacknowledgements.ha.k8s.io',
  'nodefencereports.ha.k8s.io',
  'nodefences.ha.k8s.io',
  'nodefencestops.ha.k8s.io',
  'nodes',
  'pods',
  'secrets nodefence-system',
  'volumeattachments.storage.k8s.io',
];
const WATCHES = WATCHED.length;
/** A watch that is opened twice would be by then. */
const SECOND_LOOK_MS = 3_000;
/** Two replicas lose every watch and try at once, and once or twice more; then the back-off grows. */
const FIRST_ATTEMPTS_PER_SECOND_MAX = 2 * 3 * (WATCHES + 1);
const CALM_AFTER_MS = 15_000;
/** Each pauses for anything up to this, at random. */
const PAUSE_MAX_MS = 15_000;
/** Far from the mean of what pauses of chance add up to. */
const DEVIATIONS = 6;
/** The Lease is tried every two seconds or later, by a read or a write. */
const LEASE_ATTEMPTS_PER_SECOND = 1 / 2;
/** Who owns preservation, health checks, machines (two groups), requests (two kinds) and Metal3Remediations is asked again while nobody answers, by then so seldom. */
const QUESTIONS = 7;
const QUESTION_EVERY_MS = 10_000;
/** After the outage every watch is opened again and the lease is taken, once. */
const REQUESTS_PER_SECOND_MAX = 2 * (WATCHES + 1);

/** Stands in for the API server during its outage: takes every connection, ends it, and keeps the time. */
class ClosedDoor {
  readonly attemptsAtMs: number[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((socket) => {
      this.attemptsAtMs.push(performance.now());
      socket.on('error', () => socket.destroy());
      socket.destroy();
    });
  }

  static async at(port: number): Promise<ClosedDoor> {
    const door = new ClosedDoor();
    await new Promise<void>((resolve, reject) => {
      door.#server.once('error', reject);
      door.#server.listen(port, '127.0.0.1', resolve);
    });
    return door;
  }

  async open(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The most attempts in `ms`: each watch has one under way at the begin, and mean and deviation of sums of even chances up to the pause's end. */
function calmAllowed(ms: number): number {
  const [mean, variance] = [PAUSE_MAX_MS / 2, PAUSE_MAX_MS ** 2 / 12];
  const attempts = ms / mean;
  const watches = WATCHES * (1 + attempts) + DEVIATIONS * Math.sqrt(WATCHES * attempts * (variance / mean ** 2));
  return watches + LEASE_ATTEMPTS_PER_SECOND * (ms / 1_000) + QUESTIONS * (1 + ms / QUESTION_EVERY_MS);
}

/** The most that happened within any one second. */
function peakPerSecond(timesMs: readonly number[]): number {
  return Math.max(0, ...timesMs.map((from) => timesMs.filter((at) => at >= from && at < from + 1_000).length));
}

function requestsSince(served: ServedWorld, fromMs: number): ApiEvent[] {
  return served.world.witness.trace.filter(
    (event): event is ApiEvent => event.kind === 'api' && event.user === CONTROLLER_USER && event.at >= fromMs,
  );
}

function placeOf({ resource, namespace }: ApiEvent): string {
  return namespace === undefined ? resource : `${resource} ${namespace}`;
}

async function holder(served: ServedWorld): Promise<string> {
  return (await served.world.cluster.get(LEASES, LEADER_LEASE, FENCE_NAMESPACE))?.spec.holderIdentity ?? '';
}

/** Both replicas serve, and the first one leads. */
async function startPair(served: ServedWorld): Promise<{ leader: Daemon; standby: Daemon }> {
  const path = served.kubeconfig('controller', CONTROLLER_USER);
  const daemons = [new Daemon(path)];
  try {
    const [leader] = daemons as [Daemon];
    await leader.says('leading');
    const standby = new Daemon(path);
    daemons.push(standby);
    await standby.says('starting');
    await Promise.all([leader.isReadyz(200), standby.isReadyz(200)]);
    return { leader, standby };
  } catch (error) {
    await Promise.all(daemons.map((daemon) => daemon.kill()));
    throw error;
  }
}

async function pause(served: ServedWorld): Promise<ClosedDoor> {
  await served.shell.pause('refuse');
  return ClosedDoor.at(Number(new URL(served.shell.url).port));
}

describe.concurrent('the API server is gone for a minute', () => {
  it(
    'the leader ends without its lease; the standby is not ready, knocks gently, resumes where it was and takes over',
    { timeout: 150_000 },
    async () => {
      const served = await ServedWorld.start();
      const { leader, standby } = await startPair(served);
      try {
        const door = await pause(served);
        const goneAt = performance.now();
        const why = await standby.isReadyz(503, OUTAGE_MS - 5_000);
        expect(why).toContain('has not answered for');
        expect(await leader.exit()).toBe(1);
        const last = leader.log.at(-1);
        expect(last?.message).toBe('the process ends so that nothing acts without a lease');
        expect(last?.reason).toContain('leadership lost');
        await until('the minute is over', async () => (performance.now() - goneAt >= OUTAGE_MS ? true : undefined), OUTAGE_MS + 5_000);
        await door.open();
        expect(peakPerSecond(door.attemptsAtMs)).toBeLessThanOrEqual(FIRST_ATTEMPTS_PER_SECOND_MAX);
        const calm = door.attemptsAtMs.filter((at) => at > goneAt + CALM_AFTER_MS);
        expect(calm.length).toBeGreaterThan(WATCHES);
        // How many of them come within one second depends on what the computer is busy with: src/manager/watches.test.ts shows that by a clock of its own.
        expect(calm.length).toBeLessThanOrEqual(calmAllowed(OUTAGE_MS - CALM_AFTER_MS));

        const backAt = served.world.clock.wallMs();
        await served.shell.resume();
        await standby.isReadyz(200, 45_000);
        await standby.says('leading', 45_000);
        const watchesSince = (): string[] =>
          requestsSince(served, backAt)
            .filter(({ verb }) => verb === 'watch')
            .map(placeOf)
            .sort();
        const isOpen = async (): Promise<true | undefined> => (watchesSince().length >= WATCHES ? true : undefined);
        await until('every watch is open again', isOpen, 20_000, async () => watchesSince().join(', '));
        await sleep(SECOND_LOOK_MS);
        expect(watchesSince(), 'each is opened once').toEqual(WATCHED);
        const requests = requestsSince(served, backAt);
        expect(
          requests.filter(({ verb }) => verb === 'list').every(({ resource }) => resource === 'nodefences.ha.k8s.io'),
          'nothing is listed anew but the epochs on record, where they were not read before the outage',
        ).toBe(true);
        expect(peakPerSecond(requests.map(({ at }) => at))).toBeLessThanOrEqual(REQUESTS_PER_SECOND_MAX);
        expect(standby.ended).toBeUndefined();
        expect(standby.log.filter(({ message }) => message === 'starting')).toHaveLength(1);
      } finally {
        await Promise.all([leader.kill(), standby.kill()]);
        await served.end();
      }
    },
  );
});

describe.concurrent('SIGTERM', () => {
  it('hands the lease over within a second, and the other replica leads at once', { timeout: 60_000 }, async () => {
    const served = await ServedWorld.start();
    const { leader, standby } = await startPair(served);
    try {
      expect(await holder(served)).not.toBe('');
      leader.signal('SIGTERM');
      const asked = performance.now();
      await until(
        'the holder is empty or another one',
        async () => (standby.logged('leading') || (await holder(served)) === '' ? true : undefined),
        5_000,
      );
      expect(performance.now() - asked).toBeLessThan(1_000);
      expect(await leader.exit()).toBe(0);
      await standby.says('leading', 1_000);
      expect(leader.log.filter(({ level }) => level === 'error')).toEqual([]);
    } finally {
      await Promise.all([leader.kill(), standby.kill()]);
      await served.end();
    }
  });
});
