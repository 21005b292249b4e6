import { fenceName } from '../../../src/domain/node-fence.ts';
import { EXPECTED, WORLD } from '../../../src/drill/faults/names.ts';
import { panic, strike, tellBmc } from '../../../src/drill/faults/script.ts';
import type { FaultFindings, FaultScript, FaultStage } from '../../../src/drill/faults/script.ts';
import { SILENT } from '../../../src/drill/run/display.ts';
import { runDrill } from '../../../src/drill/run/drill-run.ts';
import { DEFAULT_OPTIONS } from '../../../src/drill/run/options.ts';
import { firstAnswer } from '../../../src/drill/run/pause.ts';
import { isOver } from '../../../src/drill/run/readiness.ts';
import { termsOf } from '../../../src/drill/run/leaders.ts';
import type { Replicas } from '../../../src/drill/run/replicas.ts';
import type { DrillResult } from '../../../src/drill/run/result.ts';
import type { ApiEvent } from '../../../src/laws/trace.ts';
import { fenceEnds, offsOf, outagesOf, statusesOf } from './counts.ts';
import { toldOf } from './told.ts';
import type { Disturbance } from './disturbances.ts';

const POLL_MS = 20;
const SCRAPE_MS = 5_000;
const DEADLINE_MS = EXPECTED['bmc-slow'].deadlineMs;
/** Longer than any disturbance and the off together: what is lost is time, not a try. */
const SETTINGS = { power_timeout: '90s' };
const AGAIN_AT_MOST = 1;

export interface Row {
  name: string;
  says: string;
  result: DrillResult;
  /** How often the device was told off: once by each leader at most, which cannot know what became of the call of another one. */
  offs: number;
  /** How often the machine's power went off. */
  outages: number;
  ends: number;
  /** Processes that came in the place of others. */
  restarts: number;
  /** Answers to the controllers, by status: `429 × 12`. */
  answers: string;
  /** Metrics and messages that tell an operator of it. */
  told: readonly string[];
}

/** One fence on a control plane of its own, disturbed as soon as the BMC has been told to switch off. */
export async function played(name: string, disturbance: Disturbance): Promise<Row> {
  const seen = { offs: 0, outages: 0, ends: 0, restarts: 0, answers: '', told: [] as readonly string[] };
  const script: FaultScript = (stage) => {
    const { node } = stage;
    tellBmc(stage, { offDelayMs: WORLD.bmcSlowMs });
    const before = stage.replicas.all.length;
    const atMs = strike(stage, 'bmc-slow', () => panic(stage));
    return {
      atMs,
      over: disturbed(stage, disturbance, seen),
      listsAnew: true,
      judges: ({ trace }) => {
        const fences = trace.filter((event): event is ApiEvent => event.kind === 'api' && event.at >= atMs);
        Object.assign(seen, {
          offs: offsOf(trace, node),
          outages: outagesOf(trace, node),
          ends: fenceEnds(fences, fenceName(node)),
          answers: statusesOf(fences),
        });
        seen.restarts = stage.replicas.all.length - before;
        return problemsOf({ ...seen, terms: termsOf(trace).length }, before);
      },
    };
  };
  const options = { ...DEFAULT_OPTIONS, api: 'real' as const, fault: 'bmc-slow' as const, seed: 1, settings: SETTINGS };
  const result = await runDrill(options, SILENT, () => Promise.resolve(), script);
  return { name, says: disturbance.says, result, ...seen };
}

type Counts = Pick<Row, 'offs' | 'outages' | 'ends' | 'restarts'> & { terms: number };

export function problemsOf({ offs, outages, ends, restarts, terms }: Counts, replicas: number): string[] {
  return [
    ...(offs >= 1 && offs <= terms ? [] : [`the device was told off ${offs} times, in ${terms} terms`]),
    ...(outages === 1 ? [] : [`the machine went off ${outages} times`]),
    ...(ends === 1 ? [] : [`the fence was final ${ends} times`]),
    ...(restarts <= replicas * AGAIN_AT_MOST ? [] : [`${restarts} processes came in the place of ${replicas}`]),
  ];
}

async function disturbed(stage: FaultStage, disturbance: Disturbance, seen: { told: readonly string[] }): Promise<FaultFindings> {
  const { session, watcher, replicas, node } = stage;
  const isTold = (): true | undefined => (offsOf(session.folder.traceOf(`bmc-${node}`), node) > 0 ? true : undefined);
  if ((await firstAnswer(isTold, DEADLINE_MS, POLL_MS)) === undefined) return { problems: ['the device was never told off'] };
  const pages = (): Promise<string> => metricsOf(replicas);
  const before = await pages();
  const sinceMs = Date.now();
  const startedAnewAt = session.now();
  await disturbance.play(stage);
  await watcher.until('the end of the fence', DEADLINE_MS, () => isOver(watcher, node));
  const logs = replicas.all.map(({ child }) => child.log());
  seen.told = toldOf(before, await pages(), logs, sinceMs);
  return { problems: [], did: disturbance.says, ...(disturbance.refuses === true && { startedAnewAt }) };
}

/** One that has just begun may not answer yet. */
async function metricsOf(replicas: Replicas): Promise<string> {
  const pages = replicas.running.map(async (replica) => {
    const page = `http://${replicas.addressOf(replica) ?? ''}/metrics`;
    const answer = await fetch(page, { signal: AbortSignal.timeout(SCRAPE_MS) }).catch(unlessAway);
    return answer?.text();
  });
  return (await Promise.all(pages)).join('\n');
}

function unlessAway(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error;
  return undefined;
}
