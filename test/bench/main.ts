// `npm run -s bench -- [--json]`: the figures of the README, measured. Asserts nothing: a busy machine is not a defect.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { AGENT_SECTIONS, agentWords, measureAgents } from './agents/agents-bench.ts';
import type { FenceFigures } from './fences.ts';
import { measureFences } from './fences.ts';
import { spreadCells, tableOf } from './figures.ts';
import { measureGrowth } from './growth.ts';
import type { WorldCost } from './growth.ts';
import { healthCheckWords, measureHealthChecks } from './health-checks.ts';
import type { HealthCheckFigures } from './health-checks.ts';
import { heartbeatWords, measureHeartbeats } from './heartbeats/heartbeats.ts';
import type { HeartbeatFigures } from './heartbeats/heartbeats.ts';
import { measurePreservation } from './preservation.ts';
import type { PreservationFigures } from './preservation.ts';
import { measureRemedies, remedyWords } from './remedies.ts';
import type { RemedyFigures } from './remedies.ts';
import { measureReal, realWords } from './real/real-bench.ts';
import type { RealFigures } from './real/real-bench.ts';
import { measureStorm } from './storm.ts';
import type { StormFigures } from './storm.ts';
import { measureCompiled, measureSimulation } from './programs.ts';
import type { CompiledDrill, SimulationSpeed } from './programs.ts';

interface Figures {
  machine: string;
  small?: FenceFigures;
  large?: FenceFigures;
  compiledDrill?: CompiledDrill;
  simulation?: SimulationSpeed & { growth: readonly WorldCost[] };
  storm?: StormFigures;
  preservation?: PreservationFigures;
  healthChecks?: HealthCheckFigures;
  heartbeats?: HeartbeatFigures;
  remedies?: RemedyFigures;
  real?: RealFigures;
}

/** Between two failures of the small run: each fence has the machine nearly to itself. */
const CALM_MS = 200;
const SECTIONS = ['small', 'large', 'drill', 'simulation', 'storm', 'preservation', 'health-checks', 'heartbeats', 'remedies', 'real'];
const USAGE = `usage: npm run -s bench -- [--json] [--nodes N] [--pods N] [--fences N] [--wave N] [--every MS] [--only ${SECTIONS.join(',')}]
       npm run -s bench -- agents [--json] [--only ${AGENT_SECTIONS.join(',')}]`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    nodes: { type: 'string', default: '5000' },
    pods: { type: 'string', default: '15000' },
    fences: { type: 'string', default: '1000' },
    wave: { type: 'string', default: '1' },
    every: { type: 'string', default: '80' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Those named by `--only`, or all. */
function chosen(all: readonly string[]): ReadonlySet<string> {
  return new Set(values.only === '' ? all : values.only.split(','));
}

async function measure(sections: ReadonlySet<string>): Promise<Figures> {
  const [nodes, fences, wave, every] = [values.nodes, values.fences, values.wave, values.every].map(Number) as [number, number, number, number];
  const figures: Figures = { machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}` };
  if (sections.has('small')) figures.small = await measureFences(100, 60, 1, CALM_MS, say);
  if (sections.has('large')) figures.large = await measureFences(nodes, fences, wave, every, say);
  if (sections.has('drill')) figures.compiledDrill = await measureCompiled();
  if (sections.has('simulation')) figures.simulation = { ...(await measureSimulation()), growth: await measureGrowth() };
  if (sections.has('storm')) figures.storm = measureStorm();
  if (sections.has('preservation')) figures.preservation = await measurePreservation();
  if (sections.has('health-checks')) figures.healthChecks = await measureHealthChecks();
  if (sections.has('heartbeats')) figures.heartbeats = await measureHeartbeats(nodes);
  if (sections.has('remedies')) figures.remedies = await measureRemedies(nodes);
  if (sections.has('real')) figures.real = await measureReal(nodes, Number(values.pods), say);
  return figures;
}

function wordsOf({
  machine,
  small,
  large,
  compiledDrill,
  simulation,
  storm,
  preservation,
  healthChecks,
  heartbeats,
  remedies,
  real,
}: Figures): string {
  const parts = [machine];
  for (const run of [small, large]) {
    if (run === undefined) continue;
    const { failedToFirstCall, failedToOff, failedToBareWatch, stableOffToRelease, controller } = run;
    parts.push(
      `${run.nodes} nodes, ${run.fences} fences, ${run.wave} every ${run.everyMs} ms; ${run.finished} reached final`,
      tableOf([
        ['milliseconds', 'n', 'p50', 'p99', 'max'],
        spreadCells('Node declared failed → first device call', failedToFirstCall),
        spreadCells('Node declared failed → off sent', failedToOff),
        spreadCells('the same event at a bare watch', failedToBareWatch),
        spreadCells('stable off → release written', stableOffToRelease),
      ]),
      `first call : bare watch = ${run.ratioToBareWatch} : 1 (p50); first sync ${(run.syncMs / 1_000).toFixed(1)} s; controller ${controller.rssMb} MB resident (${controller.heapMb} MB of it live heap), ${controller.cpuMsPerFence} ms CPU per fence, and ${controller.waitedMsPerFence} ms waiting for a core`,
      `requests per fence: ${Object.entries(run.requestsPerFence)
        .map(([request, count]) => `${request} ${count}`)
        .join(', ')}`,
    );
  }
  if (compiledDrill !== undefined) {
    const { seconds, rssMb, cpuMs, expected } = compiledDrill;
    parts.push(`compiled drill: ${seconds} s, ${expected ? 'as it must be' : 'NOT AS IT MUST BE'}; controller ${rssMb} MB resident, ${cpuMs} ms CPU`);
  }
  if (simulation !== undefined) {
    const { seeds, secondsElapsed, seedsPerSecondPerCore, growth } = simulation;
    parts.push(`simulation: ${seeds} seeds in ${secondsElapsed} s, ${seedsPerSecondPerCore} seeds per second and core`);
    const rows = growth.map(({ nodes, virtualSeconds, cpuMs, cpuUsPerNodeSecond }) => [nodes, virtualSeconds, cpuMs, cpuUsPerNodeSecond]);
    parts.push(
      tableOf([['a calm world, one node dies: nodes', 'virtual s', 'CPU ms', 'CPU µs per node and s'], ...rows.map((row) => row.map(String))]),
    );
  }
  if (storm !== undefined) {
    const { nodes, failed, held, cpuMs, firstMs } = storm;
    parts.push(
      `storm: ${failed} of ${nodes} nodes at one instant, ${held} held: one decide pass ${cpuMs} ms CPU, of it ${firstMs} ms for the first node`,
    );
  }
  if (preservation !== undefined) {
    const { machines, pools, preserved, restartMs, eventMs, heartbeatMs } = preservation;
    parts.push(
      `preservation: ${machines} machines in ${pools} pools, ${preserved} preserved: ${restartMs} ms CPU from the lists of a restart to every decision, ${eventMs} ms for one changed Machine, ${heartbeatMs} ms for one heartbeat`,
    );
  }
  if (healthChecks !== undefined) parts.push(healthCheckWords(healthChecks));
  if (heartbeats !== undefined) parts.push(heartbeatWords(heartbeats));
  if (remedies !== undefined) parts.push(remedyWords(remedies));
  if (real !== undefined) parts.push(realWords(real));
  return `${parts.join('\n')}\n`;
}

const [section, ...rest] = positionals;
const known: readonly string[] = section === 'agents' ? AGENT_SECTIONS : SECTIONS;
const sections = chosen(known);
const unknown = [
  ...(section === undefined || section === 'agents' ? [] : [section]),
  ...rest,
  ...[...sections].filter((name) => !known.includes(name)),
];
if (values.help) process.stdout.write(`${USAGE}\n`);
else if (unknown.length > 0) {
  process.stderr.write(`${unknown.join(' ')} is nothing that can be measured; ${USAGE}\n`);
  process.exitCode = 2;
} else if (section === 'agents') {
  const figures = await measureAgents(sections, say);
  process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : `${agentWords(figures)}\n`);
} else {
  const figures = await measure(sections);
  if (values.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
  else process.stdout.write(`${wordsOf(figures)}\n${JSON.stringify(figures)}\n`);
}
