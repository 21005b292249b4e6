/** Conditions that a node's daemon posts on its own Node, named as the plugins of node-problem-detector in config/npd are. */

export const NODE_CONDITION_TYPES = [
  'SharedStorageUnreachable',
  'FenceDeviceUnreachable',
  'KdumpNotArmed',
  'HardwareErrorRate',
  'WatchdogNotArmed',
] as const;
export type NodeConditionType = (typeof NODE_CONDITION_TYPES)[number];

type Health = 'ok' | 'problem' | 'unknown';

interface Words {
  /** The check that tells it; the first that is run. */
  checks: readonly string[];
  ok: string;
  problem: string;
  unknown: string;
}

/** Other reasons than those of the plugins in config/npd: by its reason a condition is known to be the daemon's own. */
const WORDS: Readonly<Record<NodeConditionType, Words>> = {
  SharedStorageUnreachable: { checks: ['storage', 'multipath'], ok: 'StorageAnswers', problem: 'StorageLost', unknown: 'StorageUnknown' },
  FenceDeviceUnreachable: { checks: ['bmc'], ok: 'BMCAnswers', problem: 'BMCDoesNotAnswer', unknown: 'BMCUnknown' },
  KdumpNotArmed: { checks: ['kdump'], ok: 'KdumpArmed', problem: 'KdumpUnarmed', unknown: 'KdumpUnknown' },
  HardwareErrorRate: { checks: ['hardware'], ok: 'HardwareErrorsFew', problem: 'HardwareErrorsMany', unknown: 'HardwareErrorsUnknown' },
  WatchdogNotArmed: { checks: ['watchdog'], ok: 'WatchdogArmed', problem: 'WatchdogUnarmed', unknown: 'WatchdogUnknown' },
};

const STATUSES = { ok: 'False', problem: 'True', unknown: 'Unknown' } as const;
const MESSAGE_MAX = 512;

export interface WantedCondition {
  type: NodeConditionType;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/** What stands on the Node of one type. */
export interface StandingCondition {
  type: string;
  status?: string;
  lastHeartbeatTime?: string;
  lastTransitionTime?: string;
  reason?: string;
}

/** What the checks say; nothing of what was not looked at yet. */
export function wantedConditions(found: (check: string) => { health: Health; sentence: string } | undefined): WantedCondition[] {
  return NODE_CONDITION_TYPES.flatMap((type): WantedCondition[] => {
    const words = WORDS[type];
    const finding = words.checks.map(found).find((one) => one !== undefined);
    if (finding === undefined) return [];
    const { health, sentence } = finding;
    return [{ type, status: STATUSES[health], reason: words[health], message: sentence.slice(0, MESSAGE_MAX) }];
  });
}

/** What a node does not have is no condition; one that stands is not left as it was. */
export function isPosted({ type, status }: WantedCondition, standing: readonly StandingCondition[]): boolean {
  return status !== 'Unknown' || standing.some((one) => one.type === type && isOurs(type, one.reason));
}

/** Of those that stand, the ones that somebody else writes. */
export function othersTypes(standing: readonly StandingCondition[]): NodeConditionType[] {
  return NODE_CONDITION_TYPES.filter((type) => standing.some((one) => one.type === type && !isOurs(type, one.reason)));
}

/** A daemon wrote it last, this one or the one before it. */
function isOurs(type: NodeConditionType, reason: string | undefined): boolean {
  const { ok, problem, unknown } = WORDS[type];
  return [ok, problem, unknown].some((word) => word === reason);
}
