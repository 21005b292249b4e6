import type { FenceDependencies } from '../controllers/fence/dependencies.ts';
import type { Reflector } from '../kube/reflector.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { StormHolds } from '../ports/storm.ts';
import type { ControllerOptions, ControllerPorts } from './composition.ts';
import { composeHealthChecks } from './health-checks/compose-health-checks.ts';
import type { HealthCheckSources } from './health-checks/compose-health-checks.ts';
import { composeMachineRemediation } from './machine-remediation/compose-machine-remediation.ts';
import type { MachineRemediationSources } from './machine-remediation/compose-machine-remediation.ts';
import { composeMetal3Remediation } from './metal3-remediation/compose-metal3-remediation.ts';
import type { Metal3RemediationSources } from './metal3-remediation/compose-metal3-remediation.ts';
import { composePreservation } from './preservation/compose-preservation.ts';
import type { PreservationSources } from './preservation/compose-preservation.ts';
import { composeRemediation } from './node-remediation/compose-remediation.ts';
import { WorkloadPool } from './workload-pool.ts';

/** The controllers beside the one that fences. */
export interface Sisters {
  /** What the fence controller is given of them. */
  given: Pick<FenceDependencies, 'preservation'>;
  /** Those that run now. */
  readonly reflectors: readonly Reflector<KubeObject>[];
  /** Called when the Nodes are synced. */
  start(): void;
  /** Leadership has come. */
  wake(): void;
  /** Begins nothing more; resolves when nothing is under way. */
  close(): Promise<void>;
}

/** What they are given beside the ports. */
export type SisterSources = PreservationSources &
  Omit<Metal3RemediationSources, 'workloads'> &
  Omit<HealthCheckSources, 'workloads'> &
  MachineRemediationSources & { stormHolds: StormHolds };

/** All that are not switched off. */
export function composeSisters(ports: ControllerPorts, options: ControllerOptions, given: SisterSources): Sisters {
  const workloads = new WorkloadPool(given.cluster, ports.reach);
  const sources = { ...given, workloads };
  const preservation = composePreservation(ports, options, sources);
  const remediation = composeRemediation(ports, options, sources);
  const healthChecks = composeHealthChecks(ports, options, sources);
  const machineRemediation = composeMachineRemediation(ports, options, sources);
  const metal3Remediation = composeMetal3Remediation(ports, options, sources);
  const sisters = [preservation, remediation, healthChecks, machineRemediation, metal3Remediation].filter((sister) => sister !== undefined);
  return {
    given: preservation === undefined ? {} : { preservation },
    get reflectors() {
      return sisters.flatMap(({ reflectors }) => reflectors);
    },
    start: () => {
      for (const sister of sisters) sister.start();
    },
    wake: () => {
      for (const sister of sisters) sister.wake();
    },
    close: async () => {
      await Promise.all(sisters.map((sister) => sister.close()));
      workloads.close();
    },
  };
}
