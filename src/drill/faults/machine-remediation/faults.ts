import { HOST_MACHINES, hostMachineName, hostName, HOSTS_CLUSTER, HOSTS_NAMESPACE } from '../../../testbed/operators/host-fleet.ts';
import { CLUSTER_API_GROUP, machineHealthChecks } from '../../../ports/cluster-api.ts';
import { pause } from '../../run/pause.ts';
import { leaderOf } from '../leader-faults.ts';
import { WORLD } from '../names.ts';
import type { Fault } from '../names.ts';
import { panic, strike, tellBmc } from '../script.ts';
import type { Blow, FaultFindings, FaultScript, FaultStage, Seen } from '../script.ts';
import { cycledProblems, deletedProblems, offsOf } from './cycle-findings.ts';
import { Cycling } from './cycling.ts';

const ASKED_MS = 30_000;
const SWITCHED_MS = 60_000;
const BACK_MS = 90_000;
const POLL_MS = 100;
/** More than one is a loop; a few are plain to see. */
const LOOPS = 3;
const STARTUP_SECONDS = 10;

function play(stage: FaultStage, fault: Fault, story: (cycling: Cycling) => Promise<FaultFindings>, judges: NonNullable<Blow['judges']>): Blow {
  const cycling = new Cycling(stage);
  const atMs = strike(stage, fault, () => undefined);
  return { atMs, over: story(cycling), judges };
}

/** A node falls ill: off by the operator of its host, Node deleted, on, labels back. It is asked for again and again while it boots. */
export const mrc: FaultScript = (stage) => {
  const { node } = stage;
  return play(
    stage,
    'mrc',
    async (cycling) => {
      await cycling.fallsIll();
      const rest = cycling.keepAsking();
      await isSwitchedOff(stage, cycling);
      await isReturned(stage, cycling);
      await rest();
      return { problems: cycling.problems, outcome: 'remediated' };
    },
    ({ trace }) => onceProblems(trace, node),
  );
};

/** The leader dies somewhere between off and on. */
export const mrcCrash: FaultScript = (stage) => {
  const { node, session } = stage;
  const moments: readonly (readonly [string, (cycling: Cycling) => Promise<boolean>])[] = [
    [`${hostName(node)} is held`, (cycling) => cycling.isHeld()],
    [`${hostName(node)} is off`, async (cycling) => (await cycling.isOn()) === false],
    [`Node ${node} is deleted`, (cycling) => cycling.isNodeGone()],
    ['the mark of the incident is set', (cycling) => cycling.isMarked()],
  ];
  const [when, isMoment] = moments[Math.floor(session.random() * moments.length)] ?? ['', () => Promise.resolve(true)];
  return play(
    stage,
    'mrc-crash',
    async (cycling) => {
      await cycling.fallsIll();
      await cycling.shows(when, SWITCHED_MS, () => isMoment(cycling));
      const leader = await leaderOf(stage);
      stage.replicas.kill(leader);
      stage.tell(`${leader.name} is killed when ${when}`);
      await isSwitchedOff(stage, cycling);
      await isReturned(stage, cycling);
      return { problems: cycling.problems, outcome: 'remediated', did: `${leader.name} was killed when ${when}` };
    },
    ({ trace }) => onceProblems(trace, node),
  );
};

/** The plain table loops when a health check asks again during the boot; with a mark for each incident it does not. */
export const mrcLoop: FaultScript = (stage) => {
  const { node, replicas, session } = stage;
  const seen = { offs: 0 };
  return play(
    stage,
    'mrc-loop',
    async (cycling) => {
      await cycling.fallsIll();
      const rest = cycling.keepAsking();
      await cycling.shows(
        `the plain table loops: ${node} is switched off ${LOOPS} times, each time while it boots`,
        BACK_MS,
        () => offsOf(session.traces(), node) >= LOOPS,
      );
      stage.tell('the controllers are rolled over to --machine-remediation incident; the health check asks on');
      await replicas.roll(['--machine-remediation', 'incident']);
      seen.offs = offsOf(session.traces(), node);
      await isReturned(stage, cycling, false);
      await rest();
      return { problems: cycling.problems, outcome: 'remediated', did: `the table switched ${node} off ${seen.offs} times` };
    },
    ({ trace }) => {
      const more = offsOf(trace, node) - seen.offs;
      // What the table had begun may be finished by an incident of its own.
      return more <= 1 ? [] : [`${node} was switched off ${more} more times after the loop had been ended`];
    },
  );
};

/** Its BMC is silent: nothing is proven, nothing is released, a person is told; when it is heard again all goes on. */
export const mrcBmcDead: FaultScript = (stage) => {
  const { node } = stage;
  return play(
    stage,
    'mrc-bmc-dead',
    async (cycling) => {
      tellBmc(stage, 'not-answering');
      stage.tell(`the BMC of ${node} is silent`);
      await cycling.fallsIll();
      await cycling.shows(`${hostName(node)} is held, and its operator has trouble with the BMC`, SWITCHED_MS, async () => {
        return (await cycling.isHeld()) && (await cycling.host())?.status?.operationalStatus === 'error';
      });
      await cycling.shows('a person is told', ASKED_MS, () => stage.replicas.running.some(({ child }) => child.log().includes('is not proven off')));
      await pause(WORLD.watchedMs / 2);
      if (await cycling.isNodeGone()) cycling.problems.push(`Node ${node} was deleted although nobody knows whether it is off`);
      tellBmc(stage, 'honest');
      stage.tell(`the BMC of ${node} answers again`);
      await isSwitchedOff(stage, cycling);
      await isReturned(stage, cycling);
      return { problems: cycling.problems, outcome: 'remediated' };
    },
    ({ trace }) => onceProblems(trace, node),
  );
};

/** It panics at each boot: in the time that its health check gives a start it does not come back, and its Machine is deleted for the owner to make another. */
export const mrcPermanent: FaultScript = (stage) => {
  const { node, session } = stage;
  return play(
    stage,
    'mrc-permanent',
    async (cycling) => {
      await hasOwnerAndCheck(stage);
      await cycling.fallsIll();
      await isSwitchedOff(stage, cycling);
      const machine = hostMachineName(node);
      const isReplaced = await cycling.shows(`Machine ${machine} is deleted: its node did not start in ${STARTUP_SECONDS} s`, BACK_MS, async () => {
        panic(stage);
        return (await cycling.machine()) === undefined;
      });
      if (!isReplaced) return { problems: cycling.problems };
      await cycling.shows(
        'the host is not held off, and the node is given back',
        ASKED_MS,
        async () => !(await cycling.isHeld()) && !(await cycling.isOurs()),
      );
      const isOthersThere = await session.cluster.list(HOST_MACHINES, { namespace: HOSTS_NAMESPACE });
      if (isOthersThere.length !== session.nodes.length - 1) cycling.problems.push('another Machine was deleted as well');
      return { problems: cycling.problems, outcome: 'replaced' };
    },
    ({ trace }) => [...cycledProblems(trace, node, 1), ...deletedProblems(trace, node)],
  );
};

function onceProblems(trace: Seen['trace'], node: string): string[] {
  return [...cycledProblems(trace, node, 1), ...deletedProblems(trace, node)];
}

/** From the request to the deletion of the Node, as a person sees it in the API. */
async function isSwitchedOff({ node }: FaultStage, cycling: Cycling): Promise<void> {
  const isPast = async (): Promise<boolean> => (await cycling.isMarked()) || (await cycling.isNodeGone());
  await cycling.shows(
    `${hostName(node)} is held off, and node ${node} is ours`,
    ASKED_MS,
    async () => ((await cycling.isHeld()) && (await cycling.isOurs())) || isPast(),
  );
  await cycling.shows(`${hostName(node)} is off`, SWITCHED_MS, async () => (await cycling.isOn()) === false || isPast());
  await cycling.shows(`Node ${node} is deleted`, SWITCHED_MS, () => cycling.isNodeGone());
}

/** `isKept`: its labels were; the plain table keeps none. */
async function isReturned({ node }: FaultStage, cycling: Cycling, isKept = true): Promise<void> {
  await cycling.shows(`${hostName(node)} is on again`, BACK_MS, async () => (await cycling.isOn()) === true && !(await cycling.isHeld()));
  const words = isKept ? ', with the labels of the old one' : '';
  await cycling.shows(`Node ${node} is back, another one${words}`, BACK_MS, () => cycling.isBack(isKept));
  await cycling.shows('nothing of ours is left on Machine and host, and the node is given back', ASKED_MS, () => cycling.isClean());
}

async function hasOwnerAndCheck(stage: FaultStage): Promise<void> {
  const { session, node } = stage;
  const place = { namespace: HOSTS_NAMESPACE };
  const ownerReferences = [{ apiVersion: `${CLUSTER_API_GROUP}/v1beta2`, kind: 'MachineSet', name: 'workers', uid: 'drill', controller: true }];
  await session.cluster.mergePatch(HOST_MACHINES, hostMachineName(node), { metadata: { ownerReferences } }, place);
  await session.cluster.create(machineHealthChecks(CLUSTER_API_GROUP, 'v1beta2'), {
    metadata: { name: 'workers', ...place },
    spec: {
      clusterName: HOSTS_CLUSTER,
      selector: { matchLabels: { [`${CLUSTER_API_GROUP}/cluster-name`]: HOSTS_CLUSTER } },
      checks: { nodeStartupTimeoutSeconds: STARTUP_SECONDS },
    },
  });
  await pause(POLL_MS);
  stage.tell(`a MachineSet owns Machine ${hostMachineName(node)}, and its health check gives a node ${STARTUP_SECONDS} s to start`);
}
