import type { AutomaticSpelling } from '../controllers/preservation/names.ts';
import { uncertaintiesAbout, isGone, activityOf } from './foreign-controller.ts';
import type { ForeignControllerFacts } from './foreign-controller.ts';

/** `--preservation`. */
export type PreservationChoice = 'auto' | 'observe' | 'own' | 'off';
export const PRESERVATION_CHOICES: readonly PreservationChoice[] = ['auto', 'observe', 'own', 'off'];

/** One of a few Machines that were looked at. */
export interface MachineTrace {
  name: string;
  /** MCM's finalizer is on it. */
  hasFinalizer: boolean;
  /** `status.lastOperation.lastUpdateTime`, which only an MCM writes. Wall clock. */
  operatedMs: number | undefined;
}

/** What was found in the cluster of the Machines and on the Nodes. */
export interface ManagerFacts extends ForeignControllerFacts {
  /** `machine.sapcloud.io/v1alpha1` is served. */
  isServed: boolean;
  /** Machines may be listed. */
  isReadable: boolean;
  /** Of the Machine definition; undefined: it may not be read. */
  definition?: { isOurs: boolean; hasExpiryField: boolean };
  machines: readonly MachineTrace[];
  /** A Node that an MCM has annotated. */
  managedNode?: string;
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

/** MCM writes the last operation when a phase changes. */
const OPERATED_WITHIN_MS = 60 * 60_000;

/** What shows that an MCM is at work, each in words; empty: nothing does. */
export function managerActivityOf(facts: ManagerFacts): string[] {
  const operated = facts.machines.find(
    ({ hasFinalizer, operatedMs }) => hasFinalizer && operatedMs !== undefined && facts.nowMs - operatedMs <= OPERATED_WITHIN_MS,
  );
  const trace = operated === undefined ? [] : [`Machine ${operated.name} carries MCM's finalizer and was worked on within the last hour`];
  return [...activityOf(facts), ...trace];
}

/** Own only where no MCM can be at work; wherever that is in doubt, observe. Reference section 5. */
export function detectMode(choice: PreservationChoice, facts: ManagerFacts): PreservationMode {
  const hasTraces = facts.machines.some(({ hasFinalizer }) => hasFinalizer);
  const activity = managerActivityOf(facts);
  const spelling: AutomaticSpelling = activity.length > 0 || hasTraces ? 'auto-preserved' : 'auto-preserve';
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
  const uncertainties = uncertaintiesAbout('an MCM', facts, activity);
  if (uncertainties.length > 0) return settled('observe', ...uncertainties);
  if (choice === 'own') return settled('own', '--preservation own, and no sign of an MCM');
  if (facts.definition?.isOurs !== true)
    return settled(
      'observe',
      'the Machine definition was not installed by nodefence, so an MCM may come back: if none will, start nodefence with --preservation own',
    );
  if (hasTraces)
    return settled('observe', "Machines carry MCM's finalizer, so an MCM may come back: if none will, start nodefence with --preservation own");
  return settled('own', 'the Machine definition is ours, and no sign of an MCM');
}

/** In a shoot of Gardener the MCM is elsewhere, and its Nodes are here. */
function withoutMachines(
  choice: 'auto' | 'own',
  facts: ManagerFacts,
  settled: (mode: PreservationMode['mode'], ...reasons: string[]) => PreservationMode,
): PreservationMode {
  const none = 'no Machines of machine.sapcloud.io/v1alpha1 are served here';
  if (facts.managedNode !== undefined) {
    return settled('observe', `${none}, but an MCM elsewhere manages Node ${facts.managedNode}: --machines-kubeconfig names its cluster`);
  }
  if (choice === 'auto') return settled('off', none);
  return isGone(facts)
    ? settled('own', `--preservation own; ${none}, so Nodes alone are preserved`)
    : settled('observe', `${none}, and an MCM was at work a moment ago`);
}
