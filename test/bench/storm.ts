import { standardRegistry } from '../../agents/registry.ts';
import { decide } from '../../src/domain/automaton.ts';
import { resolvePolicies } from '../../src/config/policies.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { Problems } from '../../src/config/problems.ts';
import { NodeObservation } from '../../src/controllers/fence/observation.ts';
import { takeSnapshot } from '../../src/controllers/fence/snapshot.ts';
import { StormHarness } from './storm-harness.ts';

export interface StormFigures {
  nodes: number;
  failed: number;
  /** Nodes that were held, of those that failed. */
  held: number;
  /** One pass over every failed node: its holds, its snapshot, its decision. */
  cpuMs: number;
  /** Of it, the first node alone: the whole picture is judged for it. */
  firstMs: number;
}

const NO_RUNS = { inFlight: new Set<string>(), reports: [] };
const WARM_UP = 3;

/** A simultaneous failure, evaluated once in one process: no API server, no write. The median of a few rounds after a warm-up. */
export function measureStorm(nodes = 5_000, failed = 1_000, rounds = 7): StormFigures {
  const runs = Array.from({ length: rounds + WARM_UP }, () => one(nodes, failed)).slice(WARM_UP);
  return runs.toSorted((left, right) => left.cpuMs - right.cpuMs)[Math.floor(rounds / 2)] ?? one(nodes, failed);
}

function one(nodes: number, failed: number): StormFigures {
  const names = Array.from({ length: nodes }, (_unused, index) => `node-${index + 1}`);
  const bench = new StormHarness(names, []);
  bench.policies = resolvePolicies(configurationOf([], standardRegistry()), undefined, new Problems());
  const broken = names.slice(0, failed);
  bench.pass(60_000);
  bench.fail(...broken);
  const fences = broken.map((name) => bench.fence(name));
  const observations = broken.map(() => new NodeObservation(bench.clock.monotonicMs() - 60_000));
  let held = 0;
  let firstMs = 0;
  const began = process.cpuUsage();
  for (const [index, name] of broken.entries()) {
    const holds = bench.storm.holdsOn(name);
    const observation = observations[index];
    if (observation === undefined) throw new Error('no observation');
    const decision = decide(takeSnapshot(bench.dependencies, name, fences[index], observation, NO_RUNS, undefined, holds));
    if (decision.status?.hold !== undefined) held += 1;
    if (index === 0) firstMs = cpuMsSince(began);
  }
  return { nodes, failed, held, cpuMs: cpuMsSince(began), firstMs };
}

function cpuMsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return Math.round((user + system) / 100) / 10;
}
