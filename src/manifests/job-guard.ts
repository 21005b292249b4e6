import { NODE_ACCOUNT } from '../domain/node-daemon/account.ts';
import { JOB_LABEL } from '../../agents/job/objects.ts';
import type { KubeObject } from '../ports/objects.ts';
import { CONTROLLER_ACCOUNT } from './access.ts';
import { FORBIDDEN, guard, IS_CONTROLLER, resourceRules } from './guard.ts';

const NAME = 'nodefence-controller-jobs';
const ACCOUNTS = `['${CONTROLLER_ACCOUNT}', '${NODE_ACCOUNT}']`;
/** Of the agent `job`. A remedy may run on the host that it mends: what its pods may do is decided by who writes remedies. */
const IS_OF_AGENT = `'${JOB_LABEL}' in object.?metadata.labels.orValue({})`;

function unless(condition: string): string {
  return `!variables.isOfAgent || (${condition})`;
}

/**
 * A ConfigMap says what runs in a Job. The namespace cannot be held to Pod Security, for node daemons live in it too; so its Jobs are: none has an account of
 * ours, and those of the agent `job` have nothing of the machine that they run on.
 */
export const JOB_GUARD: readonly (KubeObject & { spec: object })[] = guard(NAME, {
  matchConstraints: { resourceRules: [resourceRules('batch', ['jobs'])] },
  matchConditions: [{ name: 'by-the-controller', expression: IS_CONTROLLER }],
  variables: [
    { name: 'isOfAgent', expression: IS_OF_AGENT },
    { name: 'pod', expression: 'object.spec.template.spec' },
    { name: 'containers', expression: 'variables.pod.containers + variables.pod.?initContainers.orValue([])' },
  ],
  validations: [
    {
      expression: `!(variables.pod.?serviceAccountName.orValue('') in ${ACCOUNTS})`,
      message: `a Job has the account ${CONTROLLER_ACCOUNT} or ${NODE_ACCOUNT} never`,
      ...FORBIDDEN,
    },
    {
      expression: unless(['hostNetwork', 'hostPID', 'hostIPC'].map((what) => `!variables.pod.?${what}.orValue(false)`).join(' && ')),
      message: 'a Job of the agent job shares no network, processes or memory with the host',
      ...FORBIDDEN,
    },
    {
      expression: unless('variables.pod.?volumes.orValue([]).all(volume, !has(volume.hostPath))'),
      message: 'a Job of the agent job mounts no hostPath',
      ...FORBIDDEN,
    },
    {
      expression: unless(
        'variables.containers.all(each, !each.?securityContext.privileged.orValue(false) && each.?securityContext.capabilities.add.orValue([]).size() == 0)',
      ),
      message: 'a Job of the agent job has no privileged container and no added capabilities',
      ...FORBIDDEN,
    },
  ],
});
