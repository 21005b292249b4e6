import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { CONTROLLER_USER } from '../../src/drill/run/cluster-session.ts';
import type { Node } from '../../src/ports/objects.ts';
import { SeededRandom } from '../../src/testbed/simulation/seeded-random.ts';
import { BenchCluster, LIVELY_NODE } from './cluster.ts';
import type { ApiCall, HeardFailure } from './api-calls.ts';
import { besidesMs, callsOf, fenceCallsOf } from './api-calls.ts';
import type { DeviceCall } from './device.ts';
import { comeBack, fail, RENEW_EVERY_MS, renew, untilFinal } from './nodes.ts';
import { rounded, spreadOf } from './figures.ts';
import type { Spread } from './figures.ts';

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
/** After the last failure, and what the pace of `rate` adds. */
const FENCE_DEADLINE_MS = 60_000;
/** Longer than `life_wait`: nothing was heard of any node for so long when it fails. */
const SILENT_MS = 3_500;
/** Where thousands of others renew their Leases in turn: as long as in production, and longer than a turn takes, or half of them would count as silent. */
const AMONG_EVENTS = { lifeWait: '15s', silentMs: 15_500 };

export interface FenceFigures {
  nodes: number;
  fences: number;
  finished: number;
  /** Failing nodes at a time, and the pause between two such waves: half to one and a half of it, at random. */
  wave: number;
  everyMs: number;
  syncMs: number;
  /** From the answer to the PATCH that made the Node Unknown, at the API server, to the first call of the device. */
  failedToFirstCall: Spread;
  /** Of that time, how long none of its requests was under way: decisions, and waiting for a turn. */
  firstCallBesides?: Spread;
  /** CPU of the controller's thread from the Node's event to the first call: what is left of that time on a machine that has nothing else to do. */
  firstCallCpu?: Spread;
  failedToOff: Spread;
  /** The same event at a client that does nothing but watch. */
  failedToBareWatch: Spread;
  ratioToBareWatch: number;
  /** From the last read that agreed to the release written, at the API server. */
  stableOffToRelease: Spread;
  /** From the last read that agreed to the last pod that was let go, where nodes have pods; `besides` is what of it no request was under way for. */
  podsReleased?: { pods: number; requests: Spread; tookMs: Spread; besidesMs: Spread };
  /** From the first to the last first device call. */
  drainedMs: number;
  /** Of the controller's event loop while nodes failed. */
  loopLag: { p99Ms: number; maxMs: number };
  requestsPerFence: Record<string, number>;
  /** `waited`: ready to run, and no core was free: what the machine's other work adds to the times above. */
  controller: { rssMb: number; heapMb: number; cpuMsPerFence: number; waitedMsPerFence: number };
}

export interface FenceRun {
  nodes: number;
  fences: number;
  wave: number;
  everyMs: number;
  pods?: number;
  /** Renewals of other nodes' leases a second. */
  events?: number;
  pace?: { max: number; window: string; windowMs: number };
  /** How long to wait for the reports of all nodes before the first one fails. */
  knownWithinMs?: number;
}

/** Fails `fences` nodes of a cluster of `nodes`, wave by wave, and brings each back when its device is switched on. */
export async function measureFences(run: FenceRun, say: (line: string) => void): Promise<FenceFigures> {
  const { nodes, fences, wave, everyMs, pods = 0, events = 0, pace, knownWithinMs } = run;
  say(`creating ${nodes} nodes`);
  const lifeWait = events === 0 ? {} : { lifeWait: AMONG_EVENTS.lifeWait };
  const bench = await BenchCluster.start(nodes, { pods, ...lifeWait, ...(pace === undefined ? {} : { pace }) });
  try {
    say('starting the controller');
    const failures: string[] = [];
    const syncMs = await bench.startController(
      (node, state) => {
        if (state === 'on') comeBack(bench, node).catch((error: unknown) => failures.push(String(error)));
      },
      knownWithinMs === undefined ? {} : { knownWithinMs },
    );
    const watched = watchNodes(bench);
    const renewal = setInterval(() => void renew(bench, LIVELY_NODE).catch((error: unknown) => failures.push(String(error))), RENEW_EVERY_MS);
    if (events > 0) bench.renewLeases(bench.nodes.slice(fences), events);
    await pause(events === 0 ? SILENT_MS : AMONG_EVENTS.silentMs);
    const before = await bench.usage();
    const from = bench.auditSize();
    const failing = bench.nodes.slice(0, fences);
    // Nodes fail in no step with the delays of fences: at equal distances each would meet the same moment of an earlier one.
    const random = new SeededRandom(1, 'failures');
    say(`failing ${failing.length} nodes, ${wave} every ${everyMs} ms`);
    for (let index = 0; index < failing.length; index += wave) {
      await Promise.all(failing.slice(index, index + wave).map((node) => fail(bench, node)));
      await pause(everyMs * (0.5 + random.next()));
    }
    const finished = await untilFinal(bench, failing.length, FENCE_DEADLINE_MS + (pace === undefined ? 0 : (fences / pace.max) * pace.windowMs));
    const use = await bench.usage();
    clearInterval(renewal);
    watched.close();
    if (failures.length > 0) throw new Error(`the bench itself failed: ${failures[0] ?? ''}`);
    const known = JSON.parse(readFileSync(bench.callsFile, 'utf8')) as Known;
    const samples = samplesOf(bench.audit(from), known, watched.seenAt, failing);
    const failedToFirstCall = spreadOf(samples.firstCall);
    const failedToBareWatch = spreadOf(samples.bareWatch);
    return {
      nodes,
      fences: failing.length,
      finished,
      wave,
      everyMs,
      syncMs: rounded(syncMs),
      failedToFirstCall,
      firstCallBesides: spreadOf(samples.firstCallBesides),
      firstCallCpu: spreadOf(samples.firstCallCpu),
      failedToOff: spreadOf(samples.off),
      failedToBareWatch,
      ratioToBareWatch: rounded(failedToFirstCall.p50 / failedToBareWatch.p50),
      stableOffToRelease: spreadOf(samples.release),
      ...(pods === 0 ? {} : { podsReleased: { pods, ...podsReleasedOf(failing, known) } }),
      drainedMs: Math.round(Math.max(...samples.firstCallAt) - Math.min(...samples.firstCallAt)),
      loopLag: { p99Ms: rounded(use.lagP99Ms), maxMs: rounded(use.lagMaxMs) },
      requestsPerFence: samples.requests,
      controller: {
        rssMb: Math.round(use.rssMb),
        heapMb: Math.round(use.heapMb),
        cpuMsPerFence: rounded((use.cpuMs - before.cpuMs) / failing.length),
        waitedMsPerFence: rounded((use.waitedMs - before.waitedMs) / failing.length),
      },
    };
  } finally {
    await bench.stop();
  }
}

/** A client that does nothing else: when it sees a Node become Unknown. */
function watchNodes(bench: BenchCluster): { seenAt: Map<string, number>; close: () => void } {
  const seenAt = new Map<string, number>();
  const close = bench.transport.watch(
    { path: '/api/v1/nodes', query: {} },
    {
      onOpen: () => undefined,
      onEvent: ({ object }) => {
        const { metadata, status } = object as Node;
        if (status.conditions?.[0]?.status === 'Unknown' && !seenAt.has(metadata.name))
          seenAt.set(metadata.name, performance.timeOrigin + performance.now());
      },
      onEnd: () => undefined,
    },
  );
  return { seenAt, close };
}

/** What the controller's process has noted. */
interface Known {
  calls: readonly DeviceCall[];
  requests: readonly ApiCall[];
  failures: readonly HeardFailure[];
}

interface Samples {
  firstCall: number[];
  firstCallAt: number[];
  firstCallBesides: number[];
  firstCallCpu: number[];
  off: number[];
  bareWatch: number[];
  release: number[];
  requests: Record<string, number>;
}

function samplesOf(
  audit: readonly ApiEvent[],
  { calls, requests, failures }: Known,
  seenAt: ReadonlyMap<string, number>,
  nodes: readonly string[],
): Samples {
  const byNode = Map.groupBy(calls, ({ node }) => node);
  const onNodes = Map.groupBy(
    audit.filter(({ resource, verb }) => resource === 'nodes' && verb === 'patch'),
    ({ name }) => name ?? '',
  );
  const samples: Samples = {
    firstCall: [],
    firstCallAt: [],
    firstCallBesides: [],
    firstCallCpu: [],
    off: [],
    bareWatch: [],
    release: [],
    requests: {},
  };
  for (const node of nodes) {
    const patches = onNodes.get(node) ?? [];
    const failedAt = patches.find(({ user, subresource }) => user === 'operator' && subresource === 'status')?.at;
    if (failedAt === undefined) continue;
    const own = (byNode.get(node) ?? []).filter(({ at }) => at > failedAt - 1_000);
    const seen = seenAt.get(node);
    const off = own.find(({ action, state }) => action === 'set' && state === 'off');
    const release = patches.find(({ user, request }) => user === CONTROLLER_USER && JSON.stringify(request).includes(OUT_OF_SERVICE));
    if (own[0] !== undefined) {
      samples.firstCall.push(own[0].at - failedAt);
      samples.firstCallAt.push(own[0].at);
      const meanwhile = requests.filter(({ from, to }) => to > failedAt && from < (own[0]?.at ?? 0));
      samples.firstCallBesides.push(besidesMs(fenceCallsOf(meanwhile, node), failedAt, own[0].at));
      const heard = failures.find((failure) => failure.node === node && failure.at > failedAt - 1_000);
      if (heard !== undefined) samples.firstCallCpu.push(own[0].cpuMs - heard.cpuMs);
    }
    if (off !== undefined) samples.off.push(off.at - failedAt);
    if (seen !== undefined) samples.bareWatch.push(seen - failedAt);
    const proof =
      release === undefined ? undefined : own.findLast(({ action, state, at }) => action === 'read' && state === 'off' && at < release.at);
    if (release !== undefined && proof !== undefined) samples.release.push(release.at - proof.at);
  }
  samples.requests = requestsPerFence(audit, nodes.length);
  return samples;
}

/** From the last read of the first off to the last pod of the node: requests that were sent meanwhile, and how long no one was under way. */
function podsReleasedOf(nodes: readonly string[], { calls, requests }: Known): Omit<NonNullable<FenceFigures['podsReleased']>, 'pods'> {
  const [counts, took, besides]: [number[], number[], number[]] = [[], [], []];
  for (const node of nodes) {
    const own = callsOf(requests, node);
    const last = own.findLast(({ method, path }) => method === 'DELETE' && path.includes('/pods/'));
    const proof = calls.findLast((call) => call.node === node && call.state === 'off' && call.at < (last?.from ?? 0));
    if (last === undefined || proof === undefined) continue;
    const end = Math.max(...own.filter(({ method, path }) => method === 'DELETE' && path.includes('/pods/')).map(({ to }) => to));
    counts.push(own.filter(({ from, to }) => from >= proof.at && to <= end).length);
    took.push(end - proof.at);
    besides.push(besidesMs(own, proof.at, end));
  }
  return { requests: spreadOf(counts), tookMs: spreadOf(took), besidesMs: spreadOf(besides) };
}

/** Of the controller, by verb and resource; the leader's lease, which is renewed whatever happens, is left out. */
function requestsPerFence(audit: readonly ApiEvent[], fences: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { user, verb, resource, name } of audit) {
    if (user !== CONTROLLER_USER || name === 'nodefence-controller') continue;
    const key = `${verb} ${resource.split('.')[0] ?? ''}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return Object.fromEntries(
    Object.entries(counts)
      .map(([key, count]) => [key, rounded(count / fences)] as const)
      .sort((a, b) => b[1] - a[1]),
  );
}
