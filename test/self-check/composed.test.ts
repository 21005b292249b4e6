import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { composeController } from '../../src/manager/compose.ts';
import type { ComposedController } from '../../src/manager/compose.ts';
import type { ClusterAccess } from '../../src/cli/cluster-access.ts';
import { fleetStatus } from '../../src/cli/commands/fleet.ts';
import { fleetPage } from '../../src/cli/commands/pages/fleet-page.ts';
import { PLAIN } from '../../src/cli/commands/terminal/ink.ts';
import { listFleet } from '../../src/cli/commands/watched-cluster.ts';
import { LEADER_LEASE } from '../../src/manager/composition.ts';
import { LivePlanner } from '../../src/config/live-planner.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import type { ApiRequest, ApiTransport } from '../../src/ports/api-transport.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { Lease, Node } from '../../src/ports/objects.ts';
import { LEASES, NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { CONTROLLER_GROUPS, CONTROLLER_USER } from '../scenarios/witness.ts';
import { narrowed, NODE_FENCE_DEFINITION, overwrite, TRUE_AND_FALSE } from './cases.ts';
import type { Site } from './cases.ts';

const quiet = (): void => undefined;
const LEASE_MS = 15_000;

describe('a composed controller', () => {
  const requests: ApiEvent[] = [];
  const events: string[] = [];
  const running: ComposedController[] = [];
  const exits: string[] = [];
  let clock: ManualClock;
  let server: ApiServer;
  let site: Site;

  beforeEach(async () => {
    requests.length = 0;
    exits.length = 0;
    events.length = 0;
    clock = new ManualClock();
    const users = [
      { name: 'operator', groups: ['system:masters'] },
      { name: CONTROLLER_USER, groups: CONTROLLER_GROUPS },
    ];
    const audit = (event: ApiEvent): void => void requests.push(event);
    server = new ApiServer({ clock: new SystemClock(), random: new SystemRandom(), users, authorization: 'rbac', audit });
    site = { admin: inProcessTransport(server, 'operator'), controller: inProcessTransport(server, CONTROLLER_USER) };
    await install({ transport: site.admin, cluster: new ApiClient({ transport: site.admin }) });
  });

  afterEach(async () => {
    for (const controller of running.splice(0)) {
      const stopped = controller.stop(1_000);
      await clock.advance(30_000);
      await stopped;
    }
  });

  function begin(identity: string, mode: 'observe' | 'enforce' = 'enforce', transport: ApiTransport = site.controller): ComposedController {
    const controller = composeController(
      {
        transport,
        clock,
        random: new SystemRandom(),
        registry: standardRegistry(),
        logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
        metrics: NO_METRICS,
        recorder: { event: (about, _type, reason) => void events.push(`${about.kind ?? ''} ${about.metadata.name} ${reason}`) },
        planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
        exit: (reason) => void exits.push(reason),
      },
      { mode, ownNode: undefined, outOfService: true, staleAfterMs: 90_000, namespace: NAMESPACE, identity, concurrency: 1, syncDeadlineMs: 10_000 },
    );
    running.push(controller);
    void controller.start().catch(quiet);
    return controller;
  }

  /** Undefined: nobody, whether or not a Lease stands. */
  async function holder(): Promise<string | undefined> {
    const lease: Lease | undefined = await new ApiClient({ transport: site.admin }).get(LEASES, LEADER_LEASE, NAMESPACE);
    const { holderIdentity = '' } = lease?.spec ?? {};
    return holderIdentity === '' ? undefined : holderIdentity.split('_')[0];
  }

  it('leads at once where everything is as shipped', async () => {
    begin('a');
    await clock.advance(3_000);
    expect(await holder()).toBe('a');
  });

  it('writes its Lease on the connections that are kept for it, whatever else waits for the API server', async () => {
    const asked: { path: string; lane: ApiRequest['lane'] }[] = [];
    const noting: ApiTransport = {
      watch: (wish, sink) => site.controller.watch(wish, sink),
      request: (wish) => {
        if (wish.method !== 'GET') asked.push({ path: wish.path, lane: wish.lane });
        return site.controller.request(wish);
      },
    };
    begin('a', 'enforce', noting);
    await clock.advance(20_000);
    const lanes = asked.filter(({ path }) => path.endsWith(`/leases/${LEADER_LEASE}`)).map(({ lane }) => lane);
    expect(lanes.length).toBeGreaterThan(3);
    expect(new Set(lanes)).toEqual(new Set(['lease']));
    expect(new Set(asked.filter(({ path }) => !path.includes('/leases')).map(({ lane }) => lane))).not.toContain('lease');
  });

  it('leads after a whole lease where none stands, as in a cluster in which it was installed a moment ago', async () => {
    await new ApiClient({ transport: site.admin }).remove(LEASES, LEADER_LEASE, { namespace: NAMESPACE });
    begin('a');
    await clock.advance(LEASE_MS - 1_000);
    expect(await holder()).toBeUndefined();
    await clock.advance(4_000);
    expect(await holder()).toBe('a');
  });

  it('waits a whole lease where its watch saw one held, that was deleted before it looked', async () => {
    const admin = new ApiClient({ transport: site.admin });
    await admin.remove(LEASES, LEADER_LEASE, { namespace: NAMESPACE });
    begin('a');
    await clock.advance(LEASE_MS - 1_000);
    const metadata = { name: LEADER_LEASE, namespace: NAMESPACE };
    await admin.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: { holderIdentity: 'b', leaseTransitions: 1 } });
    await admin.remove(LEASES, LEADER_LEASE, { namespace: NAMESPACE });
    await clock.advance(LEASE_MS - 1_000);
    expect(await holder()).toBeUndefined();
    await clock.advance(5_000);
    expect(await holder()).toBe('a');
  });

  it('does not act beside another installation that does, and does once that is gone', async () => {
    const admin = new ApiClient({ transport: site.admin });
    const renewed = (): Lease['spec'] => ({ holderIdentity: 'theirs', renewTime: new Date(clock.wallMs()).toISOString().replace('Z', '000Z') });
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: LEADER_LEASE, namespace: 'default' }, spec: renewed() };
    await admin.create(LEASES, lease);
    const controller = begin('a');
    const pass = async (seconds: number, isAlive: boolean): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        await clock.advance(1_000);
        if (isAlive) await admin.mergePatch(LEASES, LEADER_LEASE, { spec: renewed() }, { namespace: 'default' });
      }
    };
    await pass(40, true);
    expect(await holder()).toBeUndefined();
    expect(controller.selfCheck.message()).toContain('another installation, in namespace default, fences the nodes of this cluster');
    expect(events).toEqual([`Namespace ${NAMESPACE} SecondInstallationFound`]);
    await pass(60, false);
    expect(await holder()).toBe('a');
  });

  it('gives up what it leads where two installations have begun at once, and the other Lease is the older one', async () => {
    const admin = new ApiClient({ transport: site.admin });
    const renewed = (): Lease['spec'] => ({ holderIdentity: 'theirs', renewTime: new Date(clock.wallMs()).toISOString().replace('Z', '000Z') });
    const metadata = { name: LEADER_LEASE, namespace: 'default' };
    await admin.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} });
    begin('a');
    await clock.advance(3_000);
    expect(await holder()).toBe('a');
    for (let second = 0; second < 660; second += 1) {
      await clock.advance(1_000);
      if (second > 570) await admin.mergePatch(LEASES, LEADER_LEASE, { spec: renewed() }, { namespace: 'default' });
    }
    expect(exits.join()).toContain('another installation, in namespace default');
    expect((await holder()) ?? '').toBe('');
  });

  it('does not take the lease while a definition refuses what it must write, and takes it soon after that is mended', async () => {
    await overwrite(site, TRUE_AND_FALSE);
    const controller = begin('a');
    await clock.advance(60_000);
    expect(await holder()).toBeUndefined();
    expect(controller.selfCheck.message()).toContain('kubectl apply -k config/crd');
    await overwrite(site, NODE_FENCE_DEFINITION);
    await clock.advance(13_000);
    expect(await holder()).toBe('a');
  });

  it('waits for a right to watch, too, instead of ending', async () => {
    const [noNodes] = narrowed().filter(({ missing }) => missing === 'nodes');
    if (noNodes === undefined) throw new Error('no role names nodes');
    await overwrite(site, noNodes.role);
    const controller = begin('a');
    await clock.advance(60_000);
    expect(controller.selfCheck.message()).toContain('may not get, list, watch, patch nodes');
    expect(await holder()).toBeUndefined();
    await overwrite(site, noNodes.whole);
    await clock.advance(60_000);
    expect(await holder()).toBe('a');
  });

  it('that observes leads all the same', async () => {
    await overwrite(site, TRUE_AND_FALSE);
    const controller = begin('a', 'observe');
    await clock.advance(3_000);
    expect(await holder()).toBe('a');
    expect(controller.selfCheck.result.kind).toBe('refused');
  });

  it('tells on the Node, and in nodefence status, once, that a status is refused later', async () => {
    begin('a');
    await clock.advance(3_000);
    expect(await holder()).toBe('a');
    const [noStatus] = narrowed().filter(({ missing }) => missing === 'nodefencereports.ha.k8s.io/status');
    if (noStatus === undefined) throw new Error('no role names nodefencereports/status');
    await overwrite(site, noStatus.role);
    const cluster = new ApiClient({ transport: site.admin });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await cluster.create(NODES, {
      metadata: { name: 'n1' },
      spec: {},
      status: { conditions, nodeInfo: { systemUUID: 'u', bootID: 'b' } },
    } as unknown as Node);
    await clock.advance(20_000);
    expect(events.filter((event) => event.includes('StatusRefused'))).toEqual(['Node n1 StatusRefused']);
    const listers = await listFleet({ cluster, clock, transport: site.admin, namespace: NAMESPACE } as unknown as ClusterAccess);
    const status = fleetStatus(listers, clock.wallMs());
    expect(status.problems?.join()).toContain('the API server refuses the status of NodeFenceReport n1');
    const page = fleetPage(status, { server: 's', wide: false, all: false }, { ink: PLAIN, width: undefined, nowMs: clock.wallMs() });
    expect(page).toMatch(/^PROBLEM the API server refuses .*kubectl apply -k config\/rbac/mu);
    await overwrite(site, noStatus.whole);
    await clock.advance(120_000);
    expect(
      fleetStatus(await listFleet({ cluster, clock, transport: site.admin, namespace: NAMESPACE } as unknown as ClusterAccess), clock.wallMs())
        .problems,
    ).toBeUndefined();
  });

  it('that waits has proven itself before the leader is gone: nothing is asked in between', async () => {
    const cut = { isCut: false };
    const transport = inProcessTransport(server, CONTROLLER_USER);
    const first: ApiTransport = {
      request: (request) => (cut.isCut ? Promise.reject(new Error('cut off')) : transport.request(request)),
      watch: (request, sink) => transport.watch(request, sink),
    };
    begin('a', 'enforce', first);
    await clock.advance(3_000);
    const second = begin('b');
    await clock.advance(10_000);
    expect(second.selfCheck.result.kind).toBe('passed');
    cut.isCut = true;
    requests.length = 0;
    await clock.advance(LEASE_MS + 3_000);
    expect(await holder()).toBe('b');
    expect(requests.filter(({ resource }) => resource.includes('reviews') || resource.startsWith('customresource'))).toEqual([]);
  });

  it('is given no verdict by an API server that does not answer, and leads when it does', async () => {
    const down = { isDown: true };
    const transport = inProcessTransport(server, CONTROLLER_USER);
    const flaky: ApiTransport = {
      request: (request) =>
        down.isDown && request.path.includes('reviews')
          ? Promise.resolve({ status: 503, body: { kind: 'Status', message: 'not ready' }, headers: {} })
          : transport.request(request),
      watch: (request, sink) => transport.watch(request, sink),
    };
    const controller = begin('a', 'enforce', flaky);
    await clock.advance(60_000);
    expect(controller.selfCheck.result.kind).toBe('unanswered');
    expect(await holder()).toBeUndefined();
    down.isDown = false;
    await clock.advance(18_000);
    expect(await holder()).toBe('a');
  });
});
