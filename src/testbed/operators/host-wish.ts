/** Cycles a host; with a key behind it, holds it off. */
export const CYCLE = 'reboot.metal3.io';
const HOLD = `${CYCLE}/`;
const LEFT_ALONE = ['baremetalhost.metal3.io/paused', 'baremetalhost.metal3.io/detached'];
const BACK_OFF_STEPS_MAX = 9;

type Annotations = Readonly<Record<string, string>>;
type RebootMode = 'hard' | 'soft';

/** What a BareMetalOperator is to make of a host that is on, or off. */
export interface HostWish {
  power: 'on' | 'off';
  mode: RebootMode;
  /** The annotation that cycles has had its off: it goes. */
  endsCycle: boolean;
}

/** The reboot API, as baremetal-operator has it: keyed annotations hold a host off, the plain one switches it off once. `isOnline`: spec.online. */
export function wishOf(annotations: Annotations, isOnline: boolean, isOn: boolean): HostWish {
  const asked = rebootModeOf(annotations);
  const isHeld = Object.keys(annotations).some((key) => key.startsWith(HOLD));
  const isOff = !isOnline || (isOn ? asked !== undefined : isHeld);
  return { power: isOff ? 'off' : 'on', mode: asked ?? 'hard', endsCycle: !isOn && annotations[CYCLE] !== undefined };
}

/** Metal3's page on the reboot annotation: soft unless its JSON value says hard, and one hard of several wins. Undefined: none asks for a reboot. */
function rebootModeOf(annotations: Annotations): RebootMode | undefined {
  const values = Object.entries(annotations).flatMap(([key, value]) => (key === CYCLE || key.startsWith(HOLD) ? [value] : []));
  if (values.length === 0) return undefined;
  return values.some(saysHard) ? 'hard' : 'soft';
}

/** baremetal-operator goes on with the default where it cannot read a value. */
function saysHard(value: string): boolean {
  try {
    return (JSON.parse(value) as { mode?: unknown } | null)?.mode === 'hard';
  } catch {
    return false;
  }
}

/** A person has told the operator to keep away. */
export function isLeftAlone(annotations: Annotations): boolean {
  return LEFT_ALONE.some((key) => annotations[key] !== undefined);
}

/** After so many errors in a row, the operator looks no sooner than this; `unitMs` is a minute in the real one, which adds up to as much again by chance. */
export function backOffMs(errorCount: number, unitMs: number): number {
  return 2 ** Math.min(errorCount, BACK_OFF_STEPS_MAX) * unitMs;
}
