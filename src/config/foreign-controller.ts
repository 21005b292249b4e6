/** A Lease by which another controller elects its leader, as it was found. */
export interface SeenLease {
  name: string;
  namespace: string;
  holder: string;
  /** Wall clock; undefined: it does not say. */
  renewedMs: number | undefined;
  durationMs: number;
  /** It was renewed between two of our looks: no clock is asked. undefined: there was one look only. */
  hasMoved: boolean | undefined;
}

export interface SeenDeployment {
  name: string;
  namespace: string;
  replicas: number;
}

/** What was found of another controller, which may own what we could own. */
export interface ForeignControllerFacts {
  nowMs: number;
  leases: readonly SeenLease[];
  deployments: readonly SeenDeployment[];
  /** What could not be looked at, with the right that is missing. */
  unseen: readonly string[];
  /** How long no sign of it has been seen; undefined: there never was one. */
  quietForMs?: number;
}

/** A controller that ends and comes back within this time would meet us: until then nothing of its part is done. */
const QUIET_MS = 10 * 60_000;
/** How old a renewal may be, whatever the clocks of two machines say. */
const RENEWED_WITHIN_MS = 60_000;

/** What shows that it is at work, each in words; empty: nothing does. */
export function activityOf({ nowMs, leases, deployments }: ForeignControllerFacts): string[] {
  const renewed = leases.filter(({ holder, hasMoved, renewedMs, durationMs }) => {
    const isFresh = renewedMs !== undefined && Math.abs(nowMs - renewedMs) <= Math.max(RENEWED_WITHIN_MS, 4 * durationMs);
    return holder !== '' && (hasMoved === true || isFresh);
  });
  return [
    ...renewed.map(({ name, namespace, holder }) => `Lease ${namespace}/${name} is renewed by ${holder}`),
    ...deployments.map(({ name, namespace, replicas }) => `Deployment ${namespace}/${name} is there (${replicas} replicas)`),
  ];
}

/** Nothing has been seen of it for so long that it will not come back. */
export function isGone({ quietForMs }: ForeignControllerFacts): boolean {
  return quietForMs === undefined || quietForMs >= QUIET_MS;
}

/** Whether it is at work, a second look will tell. */
export function isUnsure({ leases }: ForeignControllerFacts): boolean {
  return leases.some(isOpen);
}

/** Why `who` may be at work, each in words; empty: it is not. `activity`: what shows that it is. */
export function uncertaintiesAbout(who: string, facts: ForeignControllerFacts, activity: readonly string[] = activityOf(facts)): readonly string[] {
  if (activity.length > 0) return activity;
  if (!isGone(facts)) {
    const minutes = Math.floor((facts.quietForMs ?? 0) / 60_000);
    return [`${who} was at work until ${minutes} min ago; its part is taken over after 10 min without a sign`];
  }
  if (facts.unseen.length > 0) return [`it is not known whether ${who} is at work: ${facts.unseen.join('; ')}`];
  return facts.leases.filter(isOpen).map(({ namespace, name }) => `whether Lease ${namespace}/${name} is still renewed: it is read a second time`);
}

function isOpen({ holder, hasMoved }: SeenLease): boolean {
  return holder !== '' && hasMoved === undefined;
}
