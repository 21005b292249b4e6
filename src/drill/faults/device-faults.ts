import { firstAnswer } from '../run/pause.ts';
import { lateOnProblems, leftOffProblems, neverSet, secondLevelProblems, setsOf } from './device-findings.ts';
import { EXPECTED, WORLD } from './names.ts';
import { NOTHING_FOUND, panic, strike, tellBmc } from './script.ts';
import type { FaultFindings, FaultScript, FaultStage } from './script.ts';

const POLL_MS = 20;
/** Number of the second device of a machine. */
const SECOND = 1;

/** One of two supplies is stuck on: its off is accepted, and nothing happens. */
export const psu: FaultScript = (stage) => {
  tellBmc(stage, 'lies', SECOND);
  return { atMs: strike(stage, 'psu', () => panic(stage)), over: Promise.resolve(NOTHING_FOUND), judges: leftOffProblems };
};

/** Machine and BMC die together, as when a mainboard breaks; only the outlet of both can be switched. */
export const bmcDead: FaultScript = (stage) => {
  const die = (): void => {
    panic(stage);
    tellBmc(stage, { isSilent: true });
  };
  return { atMs: strike(stage, 'bmc-dead', die), over: Promise.resolve(NOTHING_FOUND), judges: secondLevelProblems };
};

/** The off is carried out, every later set is refused. */
export const leftOff: FaultScript = (stage) => ({
  atMs: strike(stage, 'left-off', () => panic(stage)),
  over: refuseAfterOff(stage),
  judges: leftOffProblems,
});

async function refuseAfterOff(stage: FaultStage): Promise<FaultFindings> {
  const { session, node } = stage;
  const isOff = (): true | undefined =>
    session.folder.traceOf(`bmc-${node}`).some((event) => event.kind === 'power' && event.state === 'off') ? true : undefined;
  if ((await firstAnswer(isOff, EXPECTED['left-off'].deadlineMs, POLL_MS)) === undefined) return { problems: ['it was never switched off'] };
  const refusesResets = { failures: [{ method: 'POST', path: '/redfish/v1/Systems/', status: 400, message: 'The power button is locked.' }] };
  tellBmc(stage, session.agent === 'redfish' ? refusesResets : { fails: 'set' });
  stage.tell(`${node} is off, and its BMC refuses everything from now on`);
  return { problems: [], did: 'the BMC refused to switch on after the off' };
}

/** The address leads to a machine that is no node: its identity is read before anything is set. */
export const wrongMachine: FaultScript = (stage) => ({
  atMs: strike(stage, 'wrong-machine', () => panic(stage)),
  over: Promise.resolve(NOTHING_FOUND),
  judges: (seen) => neverSet(seen, /is the machine|shows/i),
});

/** By configuration one plug serves two nodes: nobody may switch it for one of them. */
export const sharedOutlet: FaultScript = (stage) => ({
  atMs: strike(stage, 'shared-outlet', () => panic(stage)),
  over: Promise.resolve(NOTHING_FOUND),
  judges: (seen) => neverSet(seen, /also (switched for|serves)/),
});

/** Each off takes effect when its reads have been given up already. */
export const lateOff: FaultScript = (stage) => {
  tellBmc(stage, { offDelayMs: WORLD.lateOffMs });
  const atMs = strike(stage, 'late-off', () => panic(stage));
  const judges = ({ trace }: Parameters<typeof leftOffProblems>[0]): string[] => lateOnProblems(trace, stage.node, WORLD.lateOffMs);
  return { atMs, over: tellSets(stage), judges };
};

async function tellSets(stage: FaultStage): Promise<FaultFindings> {
  const { session, node } = stage;
  const trace = (): ReturnType<typeof setsOf> => setsOf(session.folder.traceOf(`bmc-${node}`), node);
  const second = await firstAnswer(() => trace().filter(({ want }) => want === 'off')[1], EXPECTED['late-off'].deadlineMs, POLL_MS);
  if (second === undefined) return { problems: ['the first off was in time: no second one was sent'] };
  stage.tell(`a second off is sent; it would strike ${WORLD.lateOffMs / 1000} s from now, and nothing may be switched on before`);
  return { problems: [], did: 'a second off was on its way when the first was seen' };
}
