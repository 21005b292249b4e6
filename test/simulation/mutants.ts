import type { FenceDependencies } from '../../src/controllers/fence/dependencies.ts';
import type { Mutation } from './fence-program.ts';
import { OUT_OF_SERVICE_OWNER } from '../../src/controllers/fence/ownership.ts';
import type { Job, Runner } from '../../src/ports/jobs.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { JobReport } from '../../src/domain/snapshot.ts';
import { timestamp } from '../../src/ports/clock.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import type { KubeObject, Node } from '../../src/ports/objects.ts';
import { DUMPING } from './dumps/testing.ts';
import type { Scenario } from './scenario.ts';

/** A deliberate defect of the core. The simulation is worth something only when it catches each of them. */
export interface Mutant extends Mutation {
  name: string;
  /** What is broken, as a clause. */
  defect: string;
  /** Part of the violation that must be seen. */
  caughtBy: RegExp;
  /** Where the defect has a chance to show; otherwise as drawn, without crashes and disturbances. */
  scenario: (drawn: Scenario) => Partial<Scenario>;
}

function claim(job: Job, clock: Clock): JobReport {
  return { id: job.entry.id, result: 'succeeded', message: 'done, says the mutant', finishedAt: timestamp(clock) };
}

/** Of the boot that was to be switched off, as any proof is. */
function proof(job: Job, clock: Clock): JobReport {
  const { bootID } = job.entry;
  return {
    ...claim(job, clock),
    edge: 'off',
    evidence: {
      kind: 'power-off',
      grade: 'read-back',
      detail: 'off, says the mutant',
      identity: 'verified',
      observedAt: timestamp(clock),
      ...(bootID === undefined ? {} : { bootID }),
    },
    evidenceAtMs: clock.monotonicMs(),
  };
}

function withRunner(dependencies: FenceDependencies, run: (job: Job, inner: Runner) => Promise<JobReport>): FenceDependencies {
  const inner = dependencies.runner;
  return {
    ...dependencies,
    runner: {
      run: (job) => run(job, inner),
      recover: (job) => inner.recover(job),
      readState: (job) => inner.readState(job),
      ...(inner.look !== undefined && { look: inner.look.bind(inner) }),
    },
  };
}

/** The cluster port with some methods replaced; the rest goes through. */
function withCluster(dependencies: FenceDependencies, change: (inner: Cluster) => Partial<Cluster>): FenceDependencies {
  const inner = dependencies.cluster;
  const through: Cluster = {
    get: (resource, name, namespace) => inner.get(resource, name, namespace),
    list: (resource, options) => inner.list(resource, options),
    create: (resource, object, options) => inner.create(resource, object, options),
    replace: (resource, object, options) => inner.replace(resource, object, options),
    replaceStatus: (resource, object, options) => inner.replaceStatus(resource, object, options),
    mergePatch: (resource, name, patch, options) => inner.mergePatch(resource, name, patch, options),
    remove: (resource, name, options) => inner.remove(resource, name, options),
    evict: (name, namespace, options) => inner.evict(name, namespace, options),
  };
  return { ...dependencies, cluster: { ...through, ...change(inner) } };
}

/** What the watches last brought of a Node or a Lease. */
function cachedIn({ listers }: FenceDependencies, { plural }: Resource, name: string, namespace = ''): KubeObject | undefined {
  if (plural === 'leases') return listers.leases.get(`${namespace}/${name}`);
  return plural === 'nodes' ? listers.nodes.get(name) : undefined;
}

function withTiming(dependencies: FenceDependencies, timing: { settleMs?: number; offStableMs?: number }): FenceDependencies {
  const { planner } = dependencies;
  return {
    ...dependencies,
    planner: {
      planFor: (node) => {
        const plan = planner.planFor(node);
        return { ...plan, timing: { ...plan.timing, ...timing } };
      },
      parametersFor: (node, method) => planner.parametersFor(node, method),
      stormPolicies: () => planner.stormPolicies(),
    },
  };
}

function withoutOurTaint(node: Node): Node {
  const annotations = Object.fromEntries(Object.entries(node.metadata.annotations ?? {}).filter(([key]) => key !== OUT_OF_SERVICE_OWNER));
  return { ...node, metadata: { ...node.metadata, annotations } };
}

const honest = (): Partial<Scenario> => ({ fault: 'panic', device: 'honest' });
const dumping = (): Partial<Scenario> => ({ ...honest(), dumps: DUMPING, controllers: 2 });
/** Another node's plug is pulled: its BMC shows off before its fence has begun, and is read while that isolates it. */
const unplugged = (drawn: Scenario): Partial<Scenario> => ({
  ...honest(),
  nodes: ['a', 'b', 'c', 'd'],
  disturbances: [{ what: 'fail', node: 'b', fault: 'unplugged', atMs: drawn.faultAtMs + 30_000, durationMs: 200_000 }],
  configuration: { ...drawn.configuration, isolationDelayMs: 0, powerManagementDelayMs: 0, policies: 'off' },
});
const lying = (): Partial<Scenario> => ({ fault: 'hang', device: 'lies' });

/** The core with a leadership that permits every set; nor does the age of what it heard of stops stop a process that stood still. */
export function withUncheckedLease(dependencies: FenceDependencies): FenceDependencies {
  const { leadership } = dependencies;
  return {
    ...dependencies,
    options: { ...dependencies.options, stopAnswerMaxAgeMs: Number.POSITIVE_INFINITY },
    leadership: {
      get epoch() {
        return leadership.epoch;
      },
      get isLeading() {
        return leadership.isLeading;
      },
      get actsFromMs() {
        return leadership.actsFromMs;
      },
      mayBegin: () => true,
    },
  };
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'dropped verify',
    defect: 'an off that was never read back counts as done',
    caughtBy: /P1/,
    scenario: lying,
    mutate: (dependencies) =>
      withRunner(dependencies, async (job, inner) => {
        const report = await inner.run(job);
        return job.entry.action === 'off' && report.result === 'timeout' ? proof(job, dependencies.clock) : report;
      }),
  },
  {
    name: 'read ahead as a proof',
    defect: 'what a device showed while its node was isolated is counted among the reads that prove its off',
    caughtBy: /P1 .*: b was taken for proven off, but .* had not shown off stably/,
    scenario: unplugged,
    mutate: (dependencies) =>
      withRunner(dependencies, async (job, inner) => {
        const ahead = job.entry.action === 'off' ? await job.firstRead?.(job.identity)?.catch(() => undefined) : undefined;
        // It was made up to a second before the first of the others: by so much less has to be read.
        return ahead?.state === 'off'
          ? inner.run({ ...job, timing: { ...job.timing, offStableMs: job.timing.offStableMs - 1_000 } })
          : inner.run(job);
      }),
  },
  {
    name: 'released without evidence',
    defect: 'an off counts as proven without anything being sent',
    caughtBy: /P1/,
    scenario: honest,
    mutate: (dependencies) =>
      withRunner(dependencies, (job, inner) => (job.entry.action === 'off' ? Promise.resolve(proof(job, dependencies.clock)) : inner.run(job))),
  },
  {
    name: 'swapped order',
    defect: 'the machine is switched on before its workload is released',
    caughtBy: /P1|P3/,
    scenario: honest,
    mutate: (dependencies) =>
      withRunner(dependencies, async (job, inner) => {
        const report = await inner.run(job);
        if (job.entry.action === 'off' && report.result === 'succeeded') {
          // The answer that the off began on is old by now, and would have the on refused.
          await inner.run({ ...job, mayBegin: () => undefined, entry: { ...job.entry, action: 'on', operation: 'on:bmc-on' } });
          // And says that the off was read just now: an honest time alone would have it read again.
          return { ...report, evidenceAtMs: dependencies.clock.monotonicMs() };
        }
        return report;
      }),
  },
  {
    name: 'no write ahead',
    defect: 'a device is called although its intent was never written',
    caughtBy: /P4/,
    scenario: honest,
    mutate: (dependencies) =>
      withCluster(dependencies, (inner) => ({
        replaceStatus: async <T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> => {
          const status = (object as { status?: Partial<NodeFenceStatus> }).status;
          const journal = status?.journal?.filter((entry) => entry.finishedAt !== undefined || entry.action !== 'off');
          const stored = await inner.replaceStatus(resource, journal === undefined ? object : { ...object, status: { ...status, journal } });
          return journal === undefined ? stored : { ...stored, status };
        },
      })),
  },
  {
    name: 'unchecked lease',
    defect: 'the lease is not looked at before a set',
    caughtBy: /P5/,
    // Stopped for longer than the lease lasts, between the look at the machine's identity and the set.
    scenario: () => ({ ...honest(), controllers: 1, crashes: [{ tag: 'device-read', nth: 2, moment: 'stopped', stopMs: 20_000 }] }),
    mutate: withUncheckedLease,
  },
  {
    name: 'no last look',
    defect: 'Node and Lease are taken from the cache instead of a consistent read before a release',
    caughtBy: /P2/,
    scenario: honest,
    mutate: (dependencies) => {
      let isProven = false;
      return withCluster(dependencies, (inner) => ({
        replaceStatus: <T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> => {
          isProven ||= ((object as { status?: Partial<NodeFenceStatus> }).status?.evidence ?? []).length > 0;
          return inner.replaceStatus(resource, object);
        },
        get: <T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined> => {
          const cached = isProven ? cachedIn(dependencies, resource, name, namespace) : undefined;
          return cached === undefined ? inner.get(resource, name, namespace) : Promise.resolve(cached as T);
        },
      }));
    },
  },
  {
    name: 'no look before the off',
    defect: 'Node and Lease are taken from the cache instead of a consistent read before an off',
    caughtBy: /P10: .* had not read its Node/,
    scenario: honest,
    mutate: (dependencies) =>
      withCluster(dependencies, (inner) => ({
        get: <T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined> => {
          const cached = cachedIn(dependencies, resource, name, namespace);
          return cached === undefined ? inner.get(resource, name, namespace) : Promise.resolve(cached as T);
        },
      })),
  },
  {
    name: 'taint left',
    defect: 'the out-of-service taint is believed gone before the on',
    // The device call finds the taint once more and sends nothing: then it is what was left behind that shows.
    caughtBy: /P3|P8/,
    scenario: (drawn) => ({ ...honest(), configuration: { ...drawn.configuration, release: 'out-of-service' } }),
    mutate: (dependencies) =>
      withCluster(dependencies, (inner) => ({
        get: async <T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined> => {
          const object = await inner.get(resource, name, namespace);
          return object !== undefined && resource.plural === 'nodes' ? (withoutOurTaint(object as unknown as Node) as unknown as T) : object;
        },
      })),
  },
  {
    name: 'no settle',
    defect: 'the on follows the off at once',
    caughtBy: /P5/,
    scenario: honest,
    mutate: (dependencies) => withTiming(dependencies, { settleMs: 0 }),
  },
  {
    name: 'one look is enough',
    defect: 'the off is not watched until it is stable',
    caughtBy: /P1/,
    scenario: honest,
    mutate: (dependencies) => withTiming(dependencies, { offStableMs: 0 }),
  },
  {
    name: 'deaf to dumps',
    defect: 'a node is switched off while its kernel dumps',
    caughtBy: /P6/,
    scenario: dumping,
    mutate: ({ kdump, ...dependencies }) =>
      kdump === undefined
        ? dependencies
        : { ...dependencies, kdump: { recognise: (node) => kdump.recognise(node), factsOf: () => ({ isArmed: false }) } },
  },
  {
    name: 'dump that never ends',
    defect: 'a dump that was heard once holds its fence for ever',
    caughtBy: /P6|the fence has not ended/,
    scenario: dumping,
    mutate: (dependencies) => {
      const { kdump, clock } = dependencies;
      if (kdump === undefined) return dependencies;
      const forEver = (node: string): ReturnType<typeof kdump.factsOf> => {
        const { heard, ...facts } = kdump.factsOf(node);
        const nowMs = clock.monotonicMs();
        return heard === undefined ? facts : { ...facts, heard: { ...heard, firstMs: nowMs, lastMs: nowMs } };
      };
      return { ...dependencies, kdump: { recognise: (node) => kdump.recognise(node), factsOf: forEver } };
    },
  },
  {
    name: 'cordon left',
    defect: 'the uncordon counts as done without being done',
    caughtBy: /P8|cordoned/,
    scenario: honest,
    mutate: (dependencies) =>
      withRunner(dependencies, (job, inner) => (job.method.agent === 'uncordon' ? Promise.resolve(claim(job, dependencies.clock)) : inner.run(job))),
  },
];
