import type { ConditionLists, ListName, Said, Statement } from './conditions.ts';
import { conditionIn } from './conditions.ts';
import {
  EXTERNALLY_REMEDIATED,
  HEALTH_CHECK_SUCCEEDED,
  OWNER_REMEDIATED,
  PAUSED,
  REMEDIATION_ALLOWED,
  REQUEST_REFUSED,
  TEMPLATE_AVAILABLE,
  TEMPLATE_NOT_FOUND,
  WAITING,
} from './names.ts';
import type { REQUEST_AVAILABLE } from './names.ts';
import type { MachineFacts } from './snapshot.ts';
import type { Failure } from './evaluation.ts';
import { NOT_CHECKED } from '../shared/remediation/owner-machine.ts';

const TRUE: Said = { status: 'True' };

function warning(reason: string, message: string): Said {
  return { status: 'False', severity: 'Warning', reason, message };
}

export const SUCCEEDED: Statement = {
  type: HEALTH_CHECK_SUCCEEDED,
  says: { v1beta2: { status: 'True', reason: 'HealthCheckSucceeded' }, v1beta1: TRUE },
};

export function failedBy({ reason, message, v1beta1Reason, v1beta1Message }: Failure): Statement {
  const v1beta2: Said = { status: 'False', reason, message };
  return { type: HEALTH_CHECK_SUCCEEDED, says: { v1beta2, v1beta1: warning(v1beta1Reason, v1beta1Message) } };
}

/** Unknown, for whoever would go on by a False. */
export function notChecked(why: 'paused' | 'gone'): Statement {
  const said: Said =
    why === 'paused'
      ? { status: 'Unknown', reason: NOT_CHECKED.paused, message: 'Its MachineHealthCheck is paused' }
      : { status: 'Unknown', reason: NOT_CHECKED.gone, message: 'No MachineHealthCheck looks at it any more' };
  return { type: HEALTH_CHECK_SUCCEEDED, says: { v1beta2: said, v1beta1: said } };
}

const TO_OWNER: Readonly<Record<ListName, Said>> = {
  v1beta2: { status: 'False', reason: WAITING, message: 'Waiting for remediation' },
  v1beta1: warning(WAITING, ''),
};

/** Owners read `status.conditions` alone since Machines are of v1beta2; those of a Cluster API that serves only v1beta1 read that version's own list. */
function listsOfOwner({ apiVersion, paths }: Pick<MachineFacts, 'apiVersion' | 'paths'>): ListName[] {
  const names: ListName[] = apiVersion.endsWith('/v1beta2') ? ['v1beta2'] : ['v1beta2', 'v1beta1'];
  return names.filter((name) => paths[name] !== undefined);
}

/** Hands a machine to its owner, in each list in which the owner does not have it yet: what it says of a remediation under way is its own. */
export function handedToOwner(machine: Pick<MachineFacts, 'apiVersion' | 'conditions' | 'paths'>): Statement {
  const says: Statement['says'] = {};
  for (const name of listsOfOwner(machine)) {
    const status = conditionIn(machine.conditions[name], OWNER_REMEDIATED)?.status;
    if (status === undefined || status === 'True') says[name] = TO_OWNER[name];
  }
  return { type: OWNER_REMEDIATED, says };
}

/** Takes back what nobody has taken up. */
export function takenFromOwner(lists: ConditionLists): Statement {
  const says: Statement['says'] = {};
  for (const name of ['v1beta2', 'v1beta1'] as const) {
    const condition = conditionIn(lists[name], OWNER_REMEDIATED);
    if (condition?.status === 'False' && condition.reason === WAITING) says[name] = undefined;
  }
  return { type: OWNER_REMEDIATED, says };
}

export function externally(reason: typeof WAITING | typeof TEMPLATE_NOT_FOUND | typeof REQUEST_REFUSED, message = ''): Statement {
  return { type: EXTERNALLY_REMEDIATED, says: { v1beta2: { status: 'False', reason, message } } };
}

/** The reason of ExternallyRemediated, where it is one that we gave. */
export function ownReasonIn(lists: ConditionLists): string | undefined {
  const condition = conditionIn(lists.v1beta2, EXTERNALLY_REMEDIATED);
  const isOurs = condition?.status === 'False' && [WAITING, TEMPLATE_NOT_FOUND, REQUEST_REFUSED].includes(condition.reason ?? '');
  return isOurs ? condition.reason : undefined;
}

export const NOT_EXTERNALLY: Statement = { type: EXTERNALLY_REMEDIATED, says: { v1beta2: undefined } };

export function allowed(isAllowed: boolean, message: string): Statement {
  if (isAllowed) return { type: REMEDIATION_ALLOWED, says: { v1beta2: { status: 'True', reason: REMEDIATION_ALLOWED }, v1beta1: TRUE } };
  const reason = 'TooManyUnhealthy';
  return { type: REMEDIATION_ALLOWED, says: { v1beta2: { status: 'False', reason, message }, v1beta1: warning(reason, message) } };
}

export function pausedBy(reasons: readonly string[]): Statement {
  const isPaused = reasons.length > 0;
  const said: Said = { status: isPaused ? 'True' : 'False', reason: isPaused ? 'Paused' : 'NotPaused', message: reasons.join(', ') };
  return { type: PAUSED, says: { v1beta2: said } };
}

/** Conditions of v1beta1 about the template and the requests: made false by a fault, true again only where they were false. */
export function available(type: typeof TEMPLATE_AVAILABLE | typeof REQUEST_AVAILABLE, fault: string | undefined, lists: ConditionLists): Statement[] {
  if (fault !== undefined) {
    const reason = type === TEMPLATE_AVAILABLE ? 'ExternalRemediationTemplateNotFound' : 'ExternalRemediationRequestCreationFailed';
    return [{ type, says: { v1beta1: { status: 'False', severity: 'Error', reason, message: fault } } }];
  }
  return conditionIn(lists.v1beta1, type)?.status === 'False' ? [{ type, says: { v1beta1: TRUE } }] : [];
}
