import type { FenceDependencies } from '../controllers/fence/dependencies.ts';
import { OffsOnRequest } from '../controllers/shared/remediation/offs-on-request.ts';
import type { Reflector } from '../kube/reflector.ts';
import type { FastDetection } from '../ports/fast-detection.ts';
import type { NodeDaemons, NodeOrders, Unfencing } from '../ports/node-daemons.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { StormHolds } from '../ports/storm.ts';
import type { ControllerOptions, ControllerPorts } from './composition.ts';
import type { HealthCheckSources } from './health-checks/setup.ts';
import { setUpHealthChecks } from './health-checks/setup.ts';
import type { MachineRemediationSources } from './machine-remediation/setup.ts';
import { setUpMachineRemediation } from './machine-remediation/setup.ts';
import type { Metal3RemediationSources } from './metal3-remediation/setup.ts';
import { asKernelDumps, setUpKdump } from './kdump/setup.ts';
import type { KdumpSources } from './kdump/setup.ts';
import { setUpMetal3Remediation } from './metal3-remediation/setup.ts';
import { setUpNodeDaemons } from './node-daemons/setup.ts';
import type { NodeDaemonSources } from './node-daemons/setup.ts';
import { setUpNodeRemediation } from './node-remediation/setup.ts';
import { setUpRemedies } from './remedies/setup.ts';
import { RefusedWatches } from './refused-watches.ts';
import type { RemedySources } from './remedies/setup.ts';
import { setUpProblems } from './problems/setup.ts';
import type { PreservationSources } from './preservation/setup.ts';
import { setUpPreservation } from './preservation/setup.ts';
import { WorkloadPool } from './workload-pool.ts';

/** The controllers beside the one that fences. */
export interface SecondaryControllers {
  /** What the fence controller is given of them. */
  given: Pick<FenceDependencies, 'preservation' | 'fastDetection' | 'unfencing' | 'kdump' | 'offsOnRequest'>;
  /** What agents are given of them, while it runs. */
  readonly nodeDaemons: (NodeDaemons & NodeOrders) | undefined;
  /** Those that run now. */
  readonly watches: readonly Reflector<KubeObject>[];
  /** Of these, those that are synced: what may not be read makes nobody unready. */
  readonly reflectors: readonly Reflector<KubeObject>[];
  /** Called when the Nodes are synced. */
  start(): void;
  /** Leadership has come. */
  wake(): void;
  /** Begins nothing more; resolves when nothing is under way. */
  close(): Promise<void>;
}

/** What they are given beside the ports. */
export type SecondarySources = PreservationSources &
  NodeDaemonSources &
  Omit<Metal3RemediationSources, 'workloads' | 'offsOnRequest'> &
  Omit<HealthCheckSources, 'workloads'> &
  RemedySources &
  Pick<KdumpSources, 'isOnlySeen'> &
  Omit<MachineRemediationSources, 'offsOnRequest'> & { stormHolds: StormHolds };

/** All that are not switched off. */
export function setUpSecondaryControllers(ports: ControllerPorts, options: ControllerOptions, given: SecondarySources): SecondaryControllers {
  const workloads = new WorkloadPool(given.cluster, ports.reach);
  const offsOnRequest = new OffsOnRequest(ports.clock);
  const sources = { ...given, workloads, offsOnRequest };
  const preservation = setUpPreservation(ports, options, sources);
  const nodeDaemons = setUpNodeDaemons(ports, options, sources);
  const ofDaemons = nodeDaemons === undefined ? {} : givenBy(() => nodeDaemons.controllers[0]);
  const isArmed = (node: string): boolean => nodeDaemons?.controllers[0]?.isKdumpArmed(node) === true;
  const kdump = setUpKdump(ports, options, { ...sources, ...ofDaemons, isArmed });
  const problems = setUpProblems(ports, options, sources);
  const controllers = [
    preservation,
    nodeDaemons,
    kdump,
    setUpRemedies(ports, options, {
      ...sources,
      countProblem: (problem) => problems?.controllers[0]?.report(problem),
      foundWell: (node) => nodeDaemons?.controllers[0]?.foundWell(node),
    }),
    problems,
    setUpNodeRemediation(ports, options, sources),
    setUpHealthChecks(ports, options, sources),
    setUpMachineRemediation(ports, options, sources),
    setUpMetal3Remediation(ports, options, sources),
  ].filter((each) => each !== undefined);
  const refused = new RefusedWatches({
    clock: ports.clock,
    watches: () => controllers.flatMap(({ watches }) => watches),
    ...{ namespace: options.namespace, say: given.say },
  });
  return {
    given: {
      offsOnRequest,
      ...(preservation === undefined ? {} : { preservation }),
      ...ofDaemons,
      ...(kdump === undefined ? {} : { kdump: asKernelDumps(() => kdump.controllers[0]) }),
    },
    get nodeDaemons() {
      return nodeDaemons?.controllers[0];
    },
    get watches() {
      return controllers.flatMap(({ watches }) => watches);
    },
    get reflectors() {
      return controllers.flatMap(({ reflectors }) => reflectors);
    },
    start: () => {
      for (const each of controllers) each.start();
      refused.start();
    },
    wake: () => {
      for (const each of controllers) each.wake();
    },
    close: async () => {
      refused.close();
      await Promise.all(controllers.map((each) => each.close()));
      workloads.close();
    },
  };
}

/** Whoever runs when it is asked. */
function givenBy(running: () => (FastDetection & Unfencing) | undefined): { fastDetection: FastDetection; unfencing: Unfencing } {
  return {
    fastDetection: {
      failureOf: (node) => running()?.failureOf(node),
      heardAtMs: (node) => running()?.heardAtMs(node),
      renewsLease: (node) => running()?.renewsLease?.(node),
      reachesStorage: (node) => running()?.reachesStorage?.(node),
    },
    unfencing: { of: (node) => running()?.of(node), mayRegister: async (node) => running()?.mayRegister(node) },
  };
}
