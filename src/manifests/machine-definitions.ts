import { MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES } from '../ports/machines.ts';
import type { Machine, MachineDeployment, MachineSet } from '../ports/machines.ts';
import { column, definition } from './definitions.ts';
import type { CustomResourceDefinition } from './definitions.ts';
import { flag, integer, object, open, optional, time, token } from './schema.ts';
import type { Schema } from './schema.ts';

type Spec<T extends { spec?: object }> = NonNullable<T['spec']>;
type Status<T extends { status?: object }> = NonNullable<T['status']>;
type CurrentStatus = NonNullable<Status<Machine>['currentStatus']>;
type Strategy = NonNullable<Spec<MachineDeployment>['strategy']>;
type RollingUpdate = NonNullable<Strategy['rollingUpdate']>;

const count = (what: string): Schema<number> => integer(what);
const AUTO_PRESERVE_MAX = 'How many failed Machines of it are preserved automatically.';
const PRESERVED_FAILED = 'Its preserved Machines that have failed.';

const MACHINE_SPEC = open(
  object<Spec<Machine>>('What the Machine is, and how long it is preserved. Other fields of MCM are kept as they are.', {
    providerID: optional(token('Identity of its VM.', { maxLength: 1024 })),
    machinePreserveTimeout: optional(token('How long it is preserved, such as 72h0m0s; begins with a later preservation.')),
  }),
);

const CURRENT_STATUS = open(
  object<CurrentStatus>('In which phase it is, and until when it is preserved.', {
    phase: optional(token('Pending, Available, Running, Unknown, Failed, Terminating or another phase of MCM; written here where no MCM is.')),
    lastUpdateTime: optional(time('When the phase changed.')),
    preserveExpiryTime: optional(time('When its preservation ends; may be edited while it is preserved.')),
    timeoutActive: optional(flag('MCM: a timeout is running.')),
  }),
);

const MACHINE_STATUS = open(object<Status<Machine>>('What is known of the Machine.', { currentStatus: optional(CURRENT_STATUS) }));

const MACHINE_SET_SPEC = open(
  object<Spec<MachineSet>>('How many Machines of one kind there are.', {
    replicas: optional(count('Machines that are wanted. 0: hibernated, nothing is preserved.')),
    autoPreserveFailedMachineMax: optional(count(AUTO_PRESERVE_MAX)),
  }),
);

const MACHINE_SET_STATUS = open(
  object<Status<MachineSet>>('How many of its Machines are preserved.', {
    autoPreserveFailedMachineCount: optional(count('Its Machines that are preserved automatically.')),
    preservedFailedReplicas: optional(count(PRESERVED_FAILED)),
  }),
);

const STRATEGY = open(
  object<Strategy>('How Machines are replaced.', {
    type: optional(token('RollingUpdate, Recreate or InPlaceUpdate.')),
    rollingUpdate: optional(rollingUpdate()),
  }),
);

/** `maxUnavailable` is a number or a part such as 25%: left open, for one schema has one type. */
function rollingUpdate(): Schema<RollingUpdate> {
  return open({ json: { type: 'object', description: 'maxUnavailable: how many Machines may be missing, a number or a part such as 25%.' } });
}

const DEPLOYMENT_SPEC = open(
  object<Spec<MachineDeployment>>('Machines of one pool and zone.', {
    replicas: optional(count('Machines that are wanted.')),
    autoPreserveFailedMachineMax: optional(count(AUTO_PRESERVE_MAX)),
    strategy: optional(STRATEGY),
  }),
);

const DEPLOYMENT_STATUS = open(
  object<Status<MachineDeployment>>('How many Machines there are, and how many are preserved.', {
    availableReplicas: optional(count('Machines that are there.')),
    preservedFailedReplicas: optional(count(PRESERVED_FAILED)),
  }),
);

/**
 * Machines for clusters without an MCM, in the shape of `machine.sapcloud.io/v1alpha1`: what MCM has beside is kept, so that an MCM may take them over
 * later. To be created, never applied: over the definitions of an MCM they would drop what those say.
 */
export const MACHINE_DEFINITIONS: readonly CustomResourceDefinition[] = [
  definition({
    resource: MACHINES,
    shortNames: ['mach'],
    description: 'A machine of the cluster; the label `node` names its Node.',
    spec: MACHINE_SPEC,
    isSpecRequired: false,
    status: MACHINE_STATUS,
    columns: [
      column('Status', '.status.currentStatus.phase', 'Its phase.'),
      column('Node', '.metadata.labels.node', 'Its Node.'),
      column('Preserved until', '.status.currentStatus.preserveExpiryTime', 'When its preservation ends.'),
    ],
  }),
  definition({
    resource: MACHINE_SETS,
    shortNames: ['machset'],
    description: 'Machines that are alike.',
    spec: MACHINE_SET_SPEC,
    isSpecRequired: false,
    status: MACHINE_SET_STATUS,
    columns: [
      column('Desired', '.spec.replicas', 'Machines that are wanted.', 'integer'),
      column('Preserved', '.status.preservedFailedReplicas', PRESERVED_FAILED, 'integer'),
    ],
  }),
  definition({
    resource: MACHINE_DEPLOYMENTS,
    shortNames: ['machdeploy'],
    description: 'The Machines of one pool and zone.',
    spec: DEPLOYMENT_SPEC,
    isSpecRequired: false,
    status: DEPLOYMENT_STATUS,
    columns: [
      column('Desired', '.spec.replicas', 'Machines that are wanted.', 'integer'),
      column('Available', '.status.availableReplicas', 'Machines that are there.', 'integer'),
      column('Preserved', '.status.preservedFailedReplicas', PRESERVED_FAILED, 'integer'),
    ],
  }),
];
