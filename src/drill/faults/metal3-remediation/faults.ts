import { HOST_MACHINES, hostMachineName, hostName, HOSTS_NAMESPACE } from '../../../testbed/operators/host-fleet.ts';
import { bootOf, diagnose, isCuredByBoot } from '../illness.ts';
import { cycledProblems } from '../machine-remediation/cycle-findings.ts';
import { strike } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage } from '../script.ts';
import { taintedProblems } from './release-findings.ts';
import { isHold, Remedying } from './remedying.ts';

const ASKED_MS = 30_000;
const SWITCHED_MS = 60_000;
const CYCLES_MS = 150_000;
/** Far less than the hundred seconds that a real machine is given: it is told of, and followed. */
const SHORT_SECONDS = 15;

/** A node falls ill: a health check makes a Metal3Remediation, the host is off and on by its operator, the workload let go in between by the taint. */
export const m3r: FaultScript = async (stage) => {
  const { node } = stage;
  const remedying = new Remedying(stage);
  await remedying.watchOver({ retryLimit: 1, timeoutSeconds: 600 });
  const boot = await bootOf(stage.session.cluster, node);
  const atMs = strike(stage, 'm3r', () => undefined);
  return {
    atMs,
    over: isRemedied(stage, remedying, boot),
    judges: ({ trace }) => [...cycledProblems(trace, node, 1, isHold), ...taintedProblems(trace, node)],
  };
};

async function isRemedied(stage: FaultStage, remedying: Remedying, boot: string | undefined): Promise<FaultFindings> {
  const { checking } = remedying;
  const { node } = stage;
  await isSwitchedOff(stage, remedying);
  await checking.shows(`the phase is Waiting, and ${hostName(node)} is on again`, SWITCHED_MS, async () => {
    return (await remedying.phase()) === 'Waiting 0' && (await remedying.isOn()) === true;
  });
  if (!(await isCuredByBoot(stage, node, boot))) checking.problems.push(`${node} has not booted anew`);
  await checking.shows(`HealthCheckSucceeded of ${hostMachineName(node)} is True again, in both lists`, ASKED_MS, async () =>
    (await checking.said(node, 'HealthCheckSucceeded')).every((words) => words.startsWith('True')),
  );
  await checking.shows('the remediation is deleted, and gone', SWITCHED_MS, async () => (await remedying.remediation()) === undefined);
  await checking.shows('the host is not held off, and the node is given back', ASKED_MS, () => remedying.isClean());
  return { problems: checking.problems, outcome: 'remediated' };
}

async function isSwitchedOff(stage: FaultStage, remedying: Remedying): Promise<void> {
  const { node } = stage;
  const { checking } = remedying;
  await diagnose(stage, node, true);
  await checking.shows(`Metal3Remediation ${hostMachineName(node)} is made of the template, and owned by the Machine`, ASKED_MS, () =>
    remedying.isAsked(),
  );
  await checking.shows(`the phase is Running, ${hostName(node)} is held off, and the node is locked`, ASKED_MS, async () => {
    return (await remedying.phase()) === 'Running 0' && (await remedying.isHeld());
  });
  await checking.shows(`${hostName(node)} is off, as its operator says`, SWITCHED_MS, async () => (await remedying.isOn()) === false);
}

/** It is ill after each boot: after so many tries its owner is asked to replace the Machine, and the host is marked, and not held off. */
export const m3rRetries: FaultScript = async (stage) => {
  const { node } = stage;
  const remedying = new Remedying(stage);
  await remedying.watchOver({ retryLimit: 1, timeoutSeconds: SHORT_SECONDS });
  const asked = { ms: Infinity };
  const atMs = strike(stage, 'm3r-retries', () => undefined);
  return {
    atMs,
    over: isHandedOver(stage, remedying, asked),
    // What becomes of a Machine that its owner replaces is its owner's matter.
    judges: ({ trace }) => {
      const until = trace.filter(({ at }) => at <= asked.ms);
      return [...cycledProblems(until, node, 2, isHold), ...taintedProblems(until, node)];
    },
  };
};

async function isHandedOver(stage: FaultStage, remedying: Remedying, asked: { ms: number }): Promise<FaultFindings> {
  const { node, session } = stage;
  const { checking } = remedying;
  const machine = hostMachineName(node);
  await isSwitchedOff(stage, remedying);
  await checking.shows(`${node} is ill after its boot: ${SHORT_SECONDS} s later it is tried again, retryCount is 1`, CYCLES_MS, async () => {
    return (await remedying.phase()).endsWith(' 1');
  });
  await checking.shows(
    `and after the second one: OwnerRemediated of ${machine} is False, WaitingForRemediation, where its owner reads`,
    CYCLES_MS,
    async () => (await checking.said(node, 'OwnerRemediated'))[0] === 'False WaitingForRemediation',
  );
  await checking.shows(`the phase is Deleting machine, and ${hostName(node)} is marked unhealthy`, ASKED_MS, async () => {
    return (await remedying.phase()) === 'Deleting machine 1' && (await remedying.isUnhealthy());
  });
  asked.ms = session.now();
  await checking.shows('the host is not held off, and the node is given back', ASKED_MS, () => remedying.isClean());
  await session.cluster.remove(HOST_MACHINES, machine, { namespace: HOSTS_NAMESPACE });
  stage.tell(`its owner deletes Machine ${machine}`);
  await checking.shows('the remediation is gone with it', ASKED_MS, async () => (await remedying.remediation()) === undefined);
  return { problems: checking.problems, outcome: 'replaced' };
}
