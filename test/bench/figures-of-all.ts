import type { AgentFigures } from './agents/agents-bench.ts';
import { agentWords } from './agents/agents-bench.ts';
import { daemonWords } from './daemon/daemon-bench.ts';
import type { DaemonFigures } from './daemon/daemon-bench.ts';
import type { FailoverFigures } from './failover.ts';
import { failoverWords } from './failover.ts';
import type { FenceFigures } from './fences.ts';
import { fenceWords } from './fence-words.ts';
import type { WorldCost } from './growth.ts';
import type { SizeCost } from './sizes.ts';
import { sizeWords } from './sizes.ts';
import { healthCheckWords } from './health-checks.ts';
import type { HealthCheckFigures } from './health-checks.ts';
import { heartbeatWords } from './heartbeats/heartbeats.ts';
import type { HeartbeatFigures } from './heartbeats/heartbeats.ts';
import type { PreservationFigures } from './preservation.ts';
import type { CompiledDrill } from './programs.ts';
import { realWords } from './real/real-bench.ts';
import type { RealFigures } from './real/real-bench.ts';
import { remedyWords } from './remedies.ts';
import type { RemedyFigures } from './remedies.ts';
import type { ScrapeFigures } from './scrape.ts';
import { scrapeWords } from './scrape.ts';
import { simulationWords } from './simulation.ts';
import type { SimulationSpeed } from './simulation.ts';
import type { SoakFigures } from './soak-figures.ts';
import { soakWords } from './soak-figures.ts';
import type { StormFigures } from './storm.ts';

export interface Figures {
  machine: string;
  small?: FenceFigures;
  large?: FenceFigures;
  crowded?: FenceFigures;
  release?: FenceFigures;
  wave?: FenceFigures;
  compiledDrill?: CompiledDrill;
  simulation?: SimulationSpeed & { growth: readonly WorldCost[] };
  storm?: StormFigures;
  preservation?: PreservationFigures;
  healthChecks?: HealthCheckFigures;
  heartbeats?: HeartbeatFigures;
  nodeDaemon?: DaemonFigures;
  remedies?: RemedyFigures;
  real?: RealFigures;
  pods?: RealFigures;
  scrape?: ScrapeFigures;
  failover?: FailoverFigures;
  soak?: SoakFigures;
  sizes?: readonly SizeCost[];
  agents?: AgentFigures;
}

/** What was measured, in words, in the order in which it is told. */
export function wordsOf(figures: Partial<Figures>): string {
  const parts = [
    said(figures.machine, (machine) => machine),
    said(figures.small, fenceWords),
    said(figures.large, fenceWords),
    said(figures.crowded, fenceWords),
    said(figures.release, fenceWords),
    said(figures.wave, fenceWords),
    said(
      figures.compiledDrill,
      ({ seconds, rssMb, cpuMs, expected }) =>
        `compiled drill: ${seconds} s, ${expected ? 'as it must be' : 'NOT AS IT MUST BE'}; controller ${rssMb} MB resident, ${cpuMs} ms CPU`,
    ),
    said(figures.simulation, simulationWords),
    said(
      figures.storm,
      ({ nodes, failed, held, cpuMs, firstMs }) =>
        `storm: ${failed} of ${nodes} nodes at one instant, ${held} held: one decide pass ${cpuMs} ms CPU, of it ${firstMs} ms for the first node`,
    ),
    said(
      figures.preservation,
      ({ machines, pools, preserved, restartMs, eventMs, heartbeatMs }) =>
        `preservation: ${machines} machines in ${pools} pools, ${preserved} preserved: ${restartMs} ms CPU from the lists of a restart to every decision, ${eventMs} ms for one changed Machine, ${heartbeatMs} ms for one heartbeat`,
    ),
    said(figures.healthChecks, healthCheckWords),
    said(figures.heartbeats, heartbeatWords),
    said(figures.nodeDaemon, daemonWords),
    said(figures.remedies, remedyWords),
    said(figures.real, realWords),
    said(figures.pods, realWords),
    said(figures.scrape, scrapeWords),
    said(figures.failover, failoverWords),
    said(figures.soak, soakWords),
    said(figures.sizes, sizeWords),
    said(figures.agents, agentWords),
  ];
  return `${parts.flat().join('\n')}\n`;
}

function said<T>(figures: T | undefined, words: (figures: T) => string): string[] {
  return figures === undefined ? [] : [words(figures)];
}
