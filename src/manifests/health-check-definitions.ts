import { CLUSTER_API_GROUP, machineHealthChecks } from '../ports/cluster-api.ts';
import { column, definition } from './definitions.ts';
import type { CustomResourceDefinition } from './definitions.ts';
import { integer, list, NAME_LENGTH_MAX, object, open, optional, text, token } from './schema.ts';
import type { Schema } from './schema.ts';

interface UnhealthyCondition {
  type: string;
  status: string;
  timeoutSeconds: number;
}

interface Checks {
  nodeStartupTimeoutSeconds?: number;
  unhealthyNodeConditions?: UnhealthyCondition[];
  unhealthyMachineConditions?: UnhealthyCondition[];
}

interface TemplateRef {
  apiVersion: string;
  kind: string;
  name: string;
}

interface Spec {
  clusterName: string;
  selector: object;
  checks?: Checks;
  remediation?: { triggerIf?: object; templateRef?: TemplateRef };
}

/** The shape of the proposal. */
interface ProposedSpec {
  selector: object;
  unhealthyConditions?: { type: string; status: string; timeout: string }[];
  nodeStartupTimeout?: string;
  externalRemediationTemplate?: TemplateRef;
}

interface Status {
  expectedMachines?: number;
  currentHealthy?: number;
  remediationsAllowed?: number;
  observedGeneration?: number;
  targets?: string[];
}

const CONDITIONS_MAX = 100;
const CLUSTER_NAME_MAX = 63;
const CONDITION_TYPE_MAX = 316;
const API_VERSION_MAX = 317;

/** One schema has one type: what may be a number or a part of all, and selectors, are left to the controller, which tells what is wrong in them. */
function untyped(description: string): Schema<object> {
  return open({ json: { type: 'object', description } });
}

const SELECTOR = untyped('Which Machines: a LabelSelector that is not empty.');

function unhealthyConditions(of: string): Schema<UnhealthyCondition[]> {
  const item = object<UnhealthyCondition>(`A condition of the ${of} that makes the Machine unhealthy.`, {
    type: text('Its type.', { minLength: 1, maxLength: CONDITION_TYPE_MAX }),
    status: text('True, False or Unknown.', { minLength: 1 }),
    timeoutSeconds: integer('The condition must have lasted longer than this.'),
  });
  return list(`Conditions of the ${of}, any of which makes the Machine unhealthy.`, item, CONDITIONS_MAX);
}

const TEMPLATE_REF = open(
  object<TemplateRef>(
    'The template that remediation requests are made of, in the namespace of the check. Absent: the owner of the Machine remediates.',
    {
      apiVersion: text('Group and version.', { minLength: 1, maxLength: API_VERSION_MAX }),
      kind: text('Its kind, which ends in Template.', { minLength: 1, maxLength: CLUSTER_NAME_MAX }),
      name: text('Its name.', { minLength: 1, maxLength: NAME_LENGTH_MAX }),
    },
  ),
);

const SPEC = open(
  object<Spec>('Which Machines are checked, what makes them unhealthy, and who remediates them.', {
    clusterName: text('The Cluster of the Machines.', { minLength: 1, maxLength: CLUSTER_NAME_MAX }),
    selector: SELECTOR,
    checks: optional(
      object<Checks>('What makes a Machine unhealthy.', {
        nodeStartupTimeoutSeconds: optional(
          integer('How long a Machine may take to get a Node; 0: as long as it likes, else at least 30. Absent: 600.'),
        ),
        unhealthyNodeConditions: optional(unhealthyConditions('Node')),
        unhealthyMachineConditions: optional(unhealthyConditions('Machine')),
      }),
    ),
    remediation: optional(
      object<NonNullable<Spec['remediation']>>('When and by whom unhealthy Machines are remediated.', {
        triggerIf: optional(
          untyped(
            'unhealthyLessThanOrEqualTo: how many may be unhealthy, a number or a part such as 40%; unhealthyInRange: how many must be, such as [3-5].',
          ),
        ),
        templateRef: optional(TEMPLATE_REF),
      }),
    ),
  }),
);

const PROPOSED_SPEC = open(
  object<ProposedSpec>(
    'Which Machines are checked, what makes them unhealthy, and who remediates them. maxUnhealthy: a number or a part such as 40%.',
    {
      selector: SELECTOR,
      unhealthyConditions: optional(
        list(
          'Conditions of the Node, any of which makes the Machine unhealthy.',
          object<{ type: string; status: string; timeout: string }>('A condition of the Node that makes the Machine unhealthy.', {
            type: text('Its type.', { minLength: 1, maxLength: CONDITION_TYPE_MAX }),
            status: text('True, False or Unknown.', { minLength: 1 }),
            timeout: token('The condition must have lasted longer than this, such as 300s.'),
          }),
          CONDITIONS_MAX,
        ),
      ),
      nodeStartupTimeout: optional(token('How long a Machine may take to get a Node, such as 10m.')),
      externalRemediationTemplate: optional(TEMPLATE_REF),
    },
  ),
);

const STATUS = open(
  object<Status>('Result of the last evaluation, and conditions.', {
    expectedMachines: optional(integer('Machines that are checked.')),
    currentHealthy: optional(integer('Those that are healthy.')),
    remediationsAllowed: optional(integer('How many more may be remediated.')),
    observedGeneration: optional(integer('Generation of the spec that was evaluated.')),
    targets: optional(list('Names of the Machines that are checked.', token('Name of a Machine.', { maxLength: NAME_LENGTH_MAX }), 100_000)),
  }),
);

const COLUMNS = [
  column('Expected', '.status.expectedMachines', 'Machines that are checked.', 'integer'),
  column('Healthy', '.status.currentHealthy', 'Those that are healthy.', 'integer'),
  column('Allowed', '.status.remediationsAllowed', 'How many more may be remediated.', 'integer'),
];

function ofChecks(version: string, spec: Schema<object>, columns: CustomResourceDefinition['spec']['versions'][number]['additionalPrinterColumns']) {
  return definition({
    resource: machineHealthChecks(CLUSTER_API_GROUP, version),
    shortNames: ['mhc', 'mhcs'],
    description: 'Finds Machines whose nodes have failed, and requests their remediation.',
    spec,
    isSpecRequired: true,
    status: STATUS,
    columns,
  });
}

/**
 * MachineHealthCheck for clusters without Cluster API's own controller. To be created, never applied: over the definition of Cluster API it would drop what
 * that says.
 */
export const HEALTH_CHECK_DEFINITION: CustomResourceDefinition = ofChecks('v1beta2', SPEC, [
  column('Cluster', '.spec.clusterName', 'The Cluster of the Machines.'),
  ...COLUMNS,
]);

/** The same in the shape of the proposal, in place of the above. */
export const PROPOSED_HEALTH_CHECK_DEFINITION: CustomResourceDefinition = ofChecks('v1alpha3', PROPOSED_SPEC, COLUMNS);
