import { CALM_API } from '../../../src/testbed/simulation/network.ts';
import { scenarioOf } from '../draws.ts';
import { expectedOf } from '../expected.ts';
import { runSeed } from '../run-seed.ts';
import type { ControllerProgram } from '../controller-program.ts';
import type { Scenario } from '../scenario.ts';
import type { SeedResult } from '../seed-result.ts';
import type { DrawnThreshold, Monitor, Posted, RemedyName, RemedyWorld } from './remedy-world.ts';

const SECOND_MS = 1_000;

/** A world in which nothing happens but what its remedies answer. */
export function quietWorld(remedies: Partial<RemedyWorld> & Pick<RemedyWorld, 'thresholds'>, changes: Partial<Scenario> = {}): Scenario {
  const drawn = scenarioOf(1);
  const { hosts: _hosts, feed: _feed, ...bare } = drawn;
  const nodes = ['a', 'b', 'c'];
  const calm: Scenario = {
    ...bare,
    ...{ nodes, fault: 'none', device: 'honest', deviceEffectMs: [50, 1_500], flaps: [], healAfterOffMs: undefined, crashes: [], disturbances: [] },
    ...{ isMisconfigured: false, api: CALM_API, clockRates: { replicas: [1, 1], kubelets: 1 }, controllers: 1 },
    configuration: { ...drawn.configuration, policies: 'off' },
    remedies: { nodes, monitors: [], deeds: [], ...remedies },
    ...changes,
  };
  return { ...calm, expected: expectedOf(calm) };
}

/** It stands for five seconds, and its remedies follow each other after ten. */
export function answered(remedies: readonly RemedyName[], changes: Partial<DrawnThreshold> = {}): DrawnThreshold {
  return {
    ...{ condition: 'Wedged', status: 'true', periodSeconds: 5, heartbeatSeconds: 20, maxAttempts: 1, cooldownSeconds: 10 },
    remedies: remedies.map((name) => ({ name, periodSeconds: 10, cleans: false })),
    ...changes,
  };
}

/** `says('b', { 20: 'True', 60: 'False' })`: seconds of virtual time. */
export function says(node: string, words: Readonly<Record<number, Posted>>, condition: Monitor['condition'] = 'Wedged'): Monitor {
  const said = Object.entries(words).map(([second, status]) => ({ atMs: Number(second) * SECOND_MS, status }));
  return { node, condition, says: said, stills: [] };
}

/** The world of a scenario, and what its trace says. */
export async function played(scenario: Scenario, program?: ControllerProgram): Promise<SeedResult & { lines: readonly string[] }> {
  const lines: string[] = [];
  const onLine = (line: string): void => void lines.push(line);
  const result = await runSeed(scenario.seed, { scenario, onLine, ...(program !== undefined && { program }) });
  return { ...result, lines };
}

/** What our controllers wrote, in order: `create jobs.batch`, by the seconds in which they did. */
export function writesOf(lines: readonly string[], pattern: RegExp): string[] {
  return lines.flatMap((line) => {
    const [, at, words] = /^(\S+) api nodefence ((?:create|patch|update|delete) \S+ 2\d\d)/.exec(line) ?? [];
    return at !== undefined && words !== undefined && pattern.test(words) ? [`${Math.floor(Number(at) / SECOND_MS)} ${words}`] : [];
  });
}
