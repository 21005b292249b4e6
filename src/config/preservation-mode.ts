import type { AutomaticSpelling } from '../controllers/preservation/names.ts';

/** `--preservation`. */
export type PreservationChoice = 'auto' | 'observe' | 'own' | 'off';
export const PRESERVATION_CHOICES: readonly PreservationChoice[] = ['auto', 'observe', 'own', 'off'];

/** A Lease by which an MCM elects its leader, as it was found. */
export interface ManagerLease {
  name: string;
  namespace: string;
  holder: string;
  /** Wall clock; undefined: it does not say. */
  renewedMs: number | undefined;
  durationMs: number;
  /** It was renewed between two of our looks: no clock is asked. undefined: there was one look only. */
  hasMoved: boolean | undefined;
}

export interface ManagerDeployment {
  name: string;
  namespace: string;
  replicas: number;
}

/** One of a few Machines that were looked at. */
export interface MachineTrace {
  name: string;
  /** MCM's finalizer is on it. */
  hasFinalizer: boolean;
  /** `status.lastOperation.lastUpdateTime`, which only an MCM writes. Wall clock. */
  operatedMs: number | undefined;
}

/** What was found in the cluster of the Machines and on the Nodes. */
export interface ManagerFacts {
  nowMs: number;
  /** `machine.sapcloud.io/v1alpha1` is served. */
  isServed: boolean;
  /** Machines may be listed. */
  isReadable: boolean;
  /** Of the Machine definition; undefined: it may not be read. */
  definition?: { isOurs: boolean; hasExpiryField: boolean };
  leases: readonly ManagerLease[];
  deployments: readonly ManagerDeployment[];
  machines: readonly MachineTrace[];
  /** A Node that an MCM has annotated. */
  managedNode?: string;
  /** What could not be looked at, with the right that is missing. */
  unseen: readonly string[];
  /** How long no sign of an MCM has been seen; undefined: there never was one. */
  quietForMs?: number;
}

/** What follows from `ManagerFacts`. */
export interface PreservationMode {
  mode: 'off' | 'observe' | 'own';
  /** Machines are watched; otherwise Nodes only. */
  readsMachines: boolean;
  hasExpiryField: boolean;
  /** Which of the two automatic values is written. */
  spelling: AutomaticSpelling;
  /** Why, in words. */
  reasons: readonly string[];
}

/** An MCM that ends and comes back within this time would meet us: until then nothing of its part is done. */
const QUIET_MS = 10 * 60_000;
/** How old a renewal may be, whatever the clocks of two machines say. */
const RENEWED_WITHIN_MS = 60_000;
/** MCM writes the last operation when a phase changes. */
const OPERATED_WITHIN_MS = 60 * 60_000;

/** What shows that an MCM is at work, each in words; empty: nothing does. */
export function signsOf({ nowMs, leases, deployments, machines }: ManagerFacts): string[] {
  const renewed = leases.filter(({ holder, hasMoved, renewedMs, durationMs }) => {
    const isFresh = renewedMs !== undefined && Math.abs(nowMs - renewedMs) <= Math.max(RENEWED_WITHIN_MS, 4 * durationMs);
    return holder !== '' && (hasMoved === true || isFresh);
  });
  const operated = machines.find(
    ({ hasFinalizer, operatedMs }) => hasFinalizer && operatedMs !== undefined && nowMs - operatedMs <= OPERATED_WITHIN_MS,
  );
  return [
    ...renewed.map(({ name, namespace, holder }) => `Lease ${namespace}/${name} is renewed by ${holder}`),
    ...deployments.map(({ name, namespace, replicas }) => `Deployment ${namespace}/${name} is there (${replicas} replicas)`),
    ...(operated === undefined ? [] : [`Machine ${operated.name} carries MCM's finalizer and was worked on within the last hour`]),
  ];
}

/** Own only where no MCM can be at work; wherever that is in doubt, observe. Reference section 5. */
export function detectMode(choice: PreservationChoice, facts: ManagerFacts): PreservationMode {
  const hasTraces = facts.machines.some(({ hasFinalizer }) => hasFinalizer);
  const signs = signsOf(facts);
  const spelling: AutomaticSpelling = signs.length > 0 || hasTraces ? 'auto-preserved' : 'auto-preserve';
  const isField = facts.definition?.hasExpiryField ?? true;
  const readsMachines = facts.isServed && facts.isReadable;
  const settled = (mode: PreservationMode['mode'], ...reasons: string[]): PreservationMode => ({
    mode,
    readsMachines: mode !== 'off' && readsMachines,
    hasExpiryField: isField,
    spelling,
    reasons,
  });
  if (choice === 'off') return settled('off', '--preservation off');
  if (choice === 'observe') return settled('observe', '--preservation observe');
  if (!facts.isServed) return withoutMachines(choice, facts, settled);
  if (!facts.isReadable) return settled('observe', `Machines may not be read, so only Nodes are: ${facts.unseen.join('; ')}`);
  if (signs.length > 0) return settled('observe', ...signs);
  if (facts.quietForMs !== undefined && facts.quietForMs < QUIET_MS) {
    return settled(
      'observe',
      `an MCM was at work until ${Math.floor(facts.quietForMs / 60_000)} min ago; its part is taken over after 10 min without a sign`,
    );
  }
  if (facts.unseen.length > 0) return settled('observe', `it is not known whether an MCM is at work: ${facts.unseen.join('; ')}`);
  const unsure = facts.leases.find(({ holder, hasMoved }) => holder !== '' && hasMoved === undefined);
  if (unsure !== undefined) return settled('observe', `whether Lease ${unsure.namespace}/${unsure.name} is still renewed, a second look will tell`);
  if (choice === 'own') return settled('own', '--preservation own, and no sign of an MCM');
  if (facts.definition?.isOurs !== true)
    return settled('observe', 'the Machine definition is not ours, so an MCM may come back: --preservation own says that none will');
  if (hasTraces) return settled('observe', "Machines carry MCM's finalizer, so an MCM may come back: --preservation own says that none will");
  return settled('own', 'the Machine definition is ours, and no sign of an MCM');
}

/** In a shoot of Gardener the MCM is elsewhere, and its Nodes are here. */
function withoutMachines(
  choice: 'auto' | 'own',
  { managedNode, quietForMs }: ManagerFacts,
  settled: (mode: PreservationMode['mode'], ...reasons: string[]) => PreservationMode,
): PreservationMode {
  const none = 'no Machines of machine.sapcloud.io/v1alpha1 are served here';
  if (managedNode !== undefined) {
    return settled('observe', `${none}, but an MCM elsewhere manages Node ${managedNode}: --machines-kubeconfig names its cluster`);
  }
  if (choice === 'auto') return settled('off', none);
  return quietForMs !== undefined && quietForMs < QUIET_MS
    ? settled('observe', `${none}, and an MCM was at work a moment ago`)
    : settled('own', `--preservation own; ${none}, so Nodes alone are preserved`);
}
