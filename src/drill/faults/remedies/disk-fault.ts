import { isSettled } from '../../run/readiness.ts';
import { strike } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { beginProblems, orderProblems } from './remedy-findings.ts';
import { Remedying } from './remedying.ts';

const THRESHOLD = 'DiskPressure=True';
const REMEDY_MS = 60_000;

/** The kubelet says that its disk is full: isolated, its pods evicted, its power left alone; and let in again when there is room. */
export const diskPressure: FaultScript = (stage) => {
  const remedying = new Remedying(stage);
  const atMs = strike(stage, 'disk-pressure', () => remedying.fill(true));
  const judges = ({ trace }: Seen): string[] => [
    ...orderProblems(trace, stage.node, ['fence', 'cordon', 'evict', 'uncordon']),
    ...beginProblems(trace, stage.node),
  ];
  return { atMs, over: untilRoom(stage, remedying), judges };
};

async function untilRoom({ session, watcher, node }: FaultStage, remedying: Remedying): Promise<FaultFindings> {
  const { checking } = remedying;
  await remedying.hasEnded('storage-fence succeeded', REMEDY_MS);
  await checking.shows(`no pod of the workload is left on ${node}, and all run elsewhere`, REMEDY_MS, () => {
    const isLeft = [...watcher.pods.all()].some(({ spec }) => spec.nodeName === node);
    return !isLeft && isSettled(watcher, session.nodes.length);
  });
  remedying.fill(false);
  await remedying.hasEnded('recovery succeeded', REMEDY_MS);
  await remedying.isIn('recovered', THRESHOLD, REMEDY_MS);
  return { problems: remedying.problems, outcome: 'recovered', did: 'its disk was full, and had room again' };
}
