import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HealthCheckCache } from '../../src/controllers/machine-health-check/cache.ts';
import { Changes } from '../../src/controllers/machine-health-check/changes.ts';
import { MachineHealthCheckController } from '../../src/controllers/machine-health-check/controller.ts';
import { decide } from '../../src/controllers/machine-health-check/decide.ts';
import { observe } from '../../src/controllers/machine-health-check/observe.ts';
import { keyOf } from '../../src/controllers/machine-health-check/snapshot.ts';
import { costedSpreadOf, rounded, spreadCells, tableOf } from './figures.ts';
import type { CostedSpread } from './figures.ts';
import { BenchCluster } from './health-check-cluster.ts';
import type { HealthCheckScale } from './health-check-cluster.ts';

export interface HealthCheckFigures extends HealthCheckScale {
  /** By the controller, from the first word of the watches to all checks decided, the objects read included: CPU, the median of a few rounds. */
  startMs: number;
  /** All checks evaluated and decided, the objects read before: the same. */
  allMs: number;
  /** One Node changes: taken in, and the checks decided that it concerns. */
  decision: CostedSpread;
  /** The same while `failed` machines wait for their writes. */
  decisionInStorm: CostedSpread;
  /** The same where one check has all machines, well and in a storm. */
  decisionOfOneCheck: CostedSpread;
  decisionOfOneCheckInStorm: CostedSpread;
  /** The same by the controller as it runs, handed to the writers. */
  controller: CostedSpread;
  controllerInStorm: CostedSpread;
}

const ROUNDS = 7;
const WARM_UP = 3;
const EVENTS = 1_000;
/** As the controller's pace: one look for each event. */
const PACE_MS = 100;
const quiet = (): void => undefined;

/** What the bench itself has left behind costs the controller nothing. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function median(rounds: readonly number[]): number {
  const runs = rounds.slice(WARM_UP).toSorted((left, right) => left - right);
  return rounded(runs[Math.floor(runs.length / 2)] ?? Number.NaN);
}

function mustFind(found: number, { failed }: HealthCheckScale): void {
  if (found !== failed) throw new Error(`${found} of ${failed} failed machines were found: this measures something else`);
}

/** Observed and decided, without the controller. */
class Decider {
  readonly cluster: BenchCluster;
  readonly #cache: HealthCheckCache;
  readonly #changes: Changes;

  constructor(scale: HealthCheckScale) {
    this.cluster = new BenchCluster(scale);
    this.#cache = new HealthCheckCache(this.cluster.dependencies);
    this.#changes = new Changes(this.cluster.dependencies, this.#cache, quiet);
    this.#changes.start();
    this.#changes.take();
    mustFind(this.decideAll(), scale);
  }

  /** Returns how many machines have failed. */
  decideAll(which?: ReadonlySet<string>): number {
    let failed = 0;
    for (const read of this.#cache.checks()) {
      if (which?.has(keyOf(read.check)) === false) continue;
      for (const view of decide(observe(this.#cache, read), this.cluster.clock.wallMs()).views) failed += view.failed;
    }
    return failed;
  }

  decideChanged(): void {
    this.decideAll(this.#changes.take());
  }
}

function decisionsOf(scale: HealthCheckScale): Promise<CostedSpread> {
  const decider = new Decider(scale);
  return costedSpreadOf(EVENTS, (event) => {
    decider.cluster.nodes.put(decider.cluster.nextNode(event, scale));
    decider.decideChanged();
  });
}

function measureAll(scale: HealthCheckScale): number {
  const decider = new Decider(scale);
  const rounds = Array.from({ length: ROUNDS + WARM_UP }, () => {
    const began = cpuMs();
    decider.decideAll();
    return cpuMs() - began;
  });
  return median(rounds);
}

/** CPU until all is decided from the first word of the watches. */
async function start(cluster: BenchCluster): Promise<{ controller: MachineHealthCheckController; ms: number }> {
  const controller = new MachineHealthCheckController(cluster.dependencies);
  collectGarbage();
  const began = cpuMs();
  controller.start();
  await cluster.clock.advance(0);
  return { controller, ms: cpuMs() - began };
}

async function measureStart(scale: HealthCheckScale): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) rounds.push((await start(new BenchCluster(scale))).ms);
  return median(rounds);
}

async function eventsOf(scale: HealthCheckScale): Promise<CostedSpread> {
  const cluster = new BenchCluster(scale);
  const { controller } = await start(cluster);
  mustFind(
    controller.views().reduce((sum, { failed }) => sum + failed, 0),
    scale,
  );
  return costedSpreadOf(EVENTS, (event) => {
    cluster.nodes.put(cluster.nextNode(event, scale));
    return cluster.clock.advance(PACE_MS);
  });
}

/** MachineHealthChecks in one process: the listers hold what watches would bring, and no write is ever answered. */
export async function measureHealthChecks(machines = 5_000, checks = 50, failed = 1_000): Promise<HealthCheckFigures> {
  const storm = { machines, checks, failed };
  const calm = { ...storm, failed: 0 };
  return {
    ...storm,
    startMs: await measureStart(storm),
    allMs: measureAll(storm),
    decision: await decisionsOf(calm),
    decisionInStorm: await decisionsOf(storm),
    decisionOfOneCheck: await decisionsOf({ ...calm, checks: 1 }),
    decisionOfOneCheckInStorm: await decisionsOf({ ...storm, checks: 1 }),
    controller: await eventsOf(calm),
    controllerInStorm: await eventsOf(storm),
  };
}

export function healthCheckWords(figures: HealthCheckFigures): string {
  const { machines, checks, failed, startMs, allMs } = figures;
  const cells = (name: string, spread: CostedSpread): string[] => [...spreadCells(name, spread, 2), spread.cpuMean.toFixed(2)];
  const rows = [
    cells(`one of ${checks} checks, all well`, figures.decision),
    cells(`one of ${checks} checks, ${failed} failed`, figures.decisionInStorm),
    cells('the only check, all well', figures.decisionOfOneCheck),
    cells(`the only check, ${failed} failed`, figures.decisionOfOneCheckInStorm),
    cells(`the controller, ${checks} checks, all well`, figures.controller),
    cells(`the controller, ${checks} checks, ${failed} failed`, figures.controllerInStorm),
  ];
  return [
    `health checks: ${machines} machines under ${checks} checks, ${failed} of them failed: ${allMs} ms CPU to decide all, ${startMs} ms from the first word of the watches; for one changed Node`,
    tableOf([['milliseconds', 'n', 'p50', 'p99', 'max', 'CPU'], ...rows]),
  ].join('\n');
}
