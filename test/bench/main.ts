// `npm run -s bench -- [--json]`: the figures of docs/bench.md, measured. Asserts nothing: a busy machine is not a defect.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { AGENT_SECTIONS, measureAgents } from './agents/agents-bench.ts';
import { ALL_KNOWN_WITHIN_MS } from './cluster.ts';
import { measureDaemon } from './daemon/daemon-bench.ts';
import { measureFailover } from './failover.ts';
import { measureFences } from './fences.ts';
import { wordsOf } from './figures-of-all.ts';
import type { Figures } from './figures-of-all.ts';
import { measureGrowth } from './growth.ts';
import { measureHealthChecks } from './health-checks.ts';
import { measureHeartbeats } from './heartbeats/heartbeats.ts';
import { keep } from './page/kept.ts';
import { measurePreservation } from './preservation.ts';
import { measureCompiled } from './programs.ts';
import { measureReal } from './real/real-bench.ts';
import { measureRemedies } from './remedies.ts';
import { measureScrape } from './scrape.ts';
import { measureSimulation } from './simulation.ts';
import { measureSizes, SIZES } from './sizes.ts';
import { measureSoak } from './soak.ts';
import { measureStorm } from './storm.ts';

/** Between two failures of the small run: longer than a fence takes here, so that each has the machine to itself. */
const CALM_MS = 2_500;
/** Between two failures among events of others; and of the crowded run, in which the fences themselves need most of a core. */
const EVERY_MS = { large: 400, crowded: 80 };
const CROWDED_FENCES = 300;
/** Of other nodes, while the nodes of the large run fail. */
const EVENTS_PER_SECOND = 1_000;
/** Ten on each of 5,000 nodes. */
const MANY_PODS = 50_000;
/** A thousand nodes fail at once, and twenty a second may begin. */
const WAVE = { nodes: 2_000, fences: 1_000, wave: 1_000, everyMs: 1_000, pace: { max: 100, window: '5s', windowMs: 5_000 } };
const RELEASE = { nodes: 100, fences: 10, wave: 1, everyMs: 2_500, pods: 30 };

/** What a section is called, and what its figures are kept as. */
const SECTIONS = {
  small: 'small',
  large: 'large',
  crowded: 'crowded',
  release: 'release',
  wave: 'wave',
  drill: 'compiledDrill',
  simulation: 'simulation',
  storm: 'storm',
  preservation: 'preservation',
  'health-checks': 'healthChecks',
  heartbeats: 'heartbeats',
  daemon: 'nodeDaemon',
  remedies: 'remedies',
  scrape: 'scrape',
  failover: 'failover',
  real: 'real',
  pods: 'pods',
  sizes: 'sizes',
  agents: 'agents',
  soak: 'soak',
} as const satisfies Record<string, keyof Figures>;
type SectionName = keyof typeof SECTIONS;
/** By their names only: how long the first takes is for the caller to say, the second takes a quarter of an hour, the third loads both cores for two minutes, the fourth wants 8 GB of memory, the last starts many programs. */
const LONG: readonly string[] = ['soak', 'crowded', 'wave', 'pods', 'agents'];

const USAGE = `usage: npm run -s bench -- [--json] [--write] [--nodes N] [--pods N] [--fences N] [--wave N] [--every MS] [--minutes N] [--speed N] [--only ${Object.keys(SECTIONS).join(',')}]
       npm run -s bench -- agents [--json] [--write] [--only ${AGENT_SECTIONS.join(',')}]
       npm run -s bench -- all [--json] [--write]: everything, one after the other, in about an hour
       --write keeps the figures in docs/bench.json, and makes docs/bench.md and its graphs of all that are kept there`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    nodes: { type: 'string', default: '5000' },
    pods: { type: 'string', default: '15000' },
    fences: { type: 'string', default: '150' },
    wave: { type: 'string', default: '1' },
    every: { type: 'string', default: `${EVERY_MS.large}` },
    minutes: { type: 'string', default: '60' },
    speed: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const [nodes, fences, wave, every] = [values.nodes, values.fences, values.wave, values.every].map(Number) as [number, number, number, number];
const AMONG_EVENTS = { nodes, events: EVENTS_PER_SECOND, knownWithinMs: ALL_KNOWN_WITHIN_MS };
const MEASURE: { [Name in SectionName]: () => unknown } = {
  small: () => measureFences({ nodes: 100, fences: 60, wave: 1, everyMs: CALM_MS }, say),
  large: () => measureFences({ ...AMONG_EVENTS, fences, wave, everyMs: every }, say),
  crowded: () => measureFences({ ...AMONG_EVENTS, fences: CROWDED_FENCES, wave: 1, everyMs: EVERY_MS.crowded }, say),
  release: () => measureFences(RELEASE, say),
  wave: () => measureFences(WAVE, say),
  drill: measureCompiled,
  simulation: async () => ({ ...(await measureSimulation()), growth: await measureGrowth() }),
  storm: () => measureStorm(),
  preservation: measurePreservation,
  'health-checks': measureHealthChecks,
  heartbeats: () => measureHeartbeats(nodes),
  daemon: () => measureDaemon(say),
  remedies: () => measureRemedies(nodes),
  scrape: () => measureScrape(),
  failover: measureFailover,
  real: () => measureReal({ nodes, pods: Number(values.pods), isLong: true }, say),
  pods: () => measureReal({ nodes, pods: MANY_PODS, isLong: false }, say),
  sizes: () => measureSizes(SIZES, say),
  agents: () => measureAgents(agentSections, say),
  soak: () => measureSoak(nodes, Number(values.minutes), Number(values.speed), say),
};

/** Each is kept when it was measured: what fails later loses nothing. */
async function measure(wanted: ReadonlySet<string>): Promise<Figures> {
  const figures: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(SECTIONS) as [SectionName, keyof Figures][]) {
    if (!wanted.has(name)) continue;
    say(`measuring ${name}`);
    figures[key] = await MEASURE[name]();
    if (values.write) keep({ [key]: figures[key] }, command());
  }
  return { ...figures, machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}` };
}

/** What was asked for, in place of all that `known` names. */
function chosen(known: readonly string[]): string[] {
  return values.only === '' ? [...known] : values.only.split(',');
}

function unknownOf(names: readonly string[], known: readonly string[]): string[] {
  return names.filter((name) => !known.includes(name));
}

const ALL = Object.keys(SECTIONS);
const [section, ...rest] = positionals;
const isOfAgents = section === 'agents';
const agentSections: ReadonlySet<string> = new Set(isOfAgents ? chosen(AGENT_SECTIONS) : AGENT_SECTIONS);
const sections = isOfAgents ? ['agents'] : section === 'all' ? ALL : chosen(ALL.filter((name) => !LONG.includes(name)));
const unknown = [
  ...(section === undefined || isOfAgents || section === 'all' ? [] : [section]),
  ...rest,
  ...unknownOf(sections, ALL),
  ...unknownOf([...agentSections], AGENT_SECTIONS),
];
if (values.help) process.stdout.write(`${USAGE}\n`);
else if (unknown.length > 0) {
  process.stderr.write(`${unknown.join(' ')} is nothing that can be measured; ${USAGE}\n`);
  process.exitCode = 2;
} else {
  const figures = await measure(new Set(sections));
  process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : `${wordsOf(figures)}\n`);
}

/** As it was called, for whoever wants to repeat it. */
function command(): string {
  return ['npm run -s bench --', ...process.argv.slice(2)].join(' ');
}
