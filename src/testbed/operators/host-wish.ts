import { rebootOf } from '../../controllers/shared/baremetal-host/reboot.ts';
import type { RebootRequest } from '../../controllers/shared/baremetal-host/reboot.ts';

/** Cycles a host; with a key behind it, holds it off. */
export const CYCLE = 'reboot.metal3.io';
const HOLD = `${CYCLE}/`;
const LEFT_ALONE = ['baremetalhost.metal3.io/paused', 'baremetalhost.metal3.io/detached'];
const BACK_OFF_STEPS_MAX = 9;

type Annotations = Readonly<Record<string, string>>;

/** What a BareMetalOperator is to make of a host that is on, or off. */
export interface HostWish {
  power: 'on' | 'off';
  mode: RebootRequest['mode'];
  /** The annotation that cycles has had its off: it goes. */
  endsCycle: boolean;
}

/** The reboot API, as baremetal-operator has it: keyed annotations hold a host off, the plain one switches it off once. `isOnline`: spec.online. */
export function wishOf(annotations: Annotations, isOnline: boolean, isOn: boolean): HostWish {
  const asked = rebootOf(annotations);
  const isHeld = Object.keys(annotations).some((key) => key.startsWith(HOLD));
  const isOff = !isOnline || (isOn ? asked !== undefined : isHeld);
  return { power: isOff ? 'off' : 'on', mode: asked?.mode ?? 'hard', endsCycle: !isOn && annotations[CYCLE] !== undefined };
}

/** A person has told the operator to keep away. */
export function isLeftAlone(annotations: Annotations): boolean {
  return LEFT_ALONE.some((key) => annotations[key] !== undefined);
}

/** After so many errors in a row, the operator looks no sooner than this; `unitMs` is a minute in the real one, which adds up to as much again by chance. */
export function backOffMs(errorCount: number, unitMs: number): number {
  return 2 ** Math.min(errorCount, BACK_OFF_STEPS_MAX) * unitMs;
}
