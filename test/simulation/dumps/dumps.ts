import type { DatagramFaults } from '../../../src/testbed/simulation/datagrams.ts';

/**
 * What the crash kernel of a node does that panicked. ends: it sends messages while it dumps, then stops, and may reboot the machine. stops: it hangs in
 * the midst of it. mute: it hangs before its first message. endless: its messages never end.
 */
export type CrashKernel = 'ends' | 'stops' | 'mute' | 'endless';

/** Whose address a forged message bears: nobody's, that of a node that is well, of the one that fails, or of the whole cluster one after the other. */
export type Forged = 'stranger' | 'sound' | 'victim' | 'everyone';

/** deaf: a replica hears nothing. forge: somebody sends messages, right ones or malformed. */
export type DumpDeed = { atMs: number; durationMs: number } & (
  | { what: 'deaf'; replica: 0 | 1 }
  | { what: 'forge'; whose: Forged; everyMs: number; isWellFormed: boolean }
);

/** The crash kernels of one world, and what the controllers are told of them. Plain data. */
export interface Dumps {
  /** `kdump_start_timeout`, `kdump_finished_timeout`, `kdump_max_duration`, and `kdump=yes`. */
  settings: { startMs: number; finishedMs: number; maxMs: number; isArmed: boolean };
  /** A method that waits for messages stands before the BMC: may its evidence let pods go? Absent: there is none. */
  evidence?: 'admitted' | 'refused';
  kernel: CrashKernel;
  /** From the panic to the first message. */
  bootMs: number;
  everyMs: number;
  /** For `ends` and `stops`: from the first message to the last. */
  lastsMs: number;
  /** For `ends`: the machine boots anew after it. */
  reboots: boolean;
  datagrams: DatagramFaults;
  deeds: readonly DumpDeed[];
}

/** From where the crash kernel of a node sends; the nodes of a world are numbered. */
export function addressOf(nodes: readonly string[], node: string): string {
  return `10.9.0.${nodes.indexOf(node) + 1}`;
}

/** Whose addresses such messages bear, one after the other; empty: nobody's. */
export function borneBy(whose: Forged, { nodes, victim }: { nodes: readonly string[]; victim: string }): readonly string[] {
  switch (whose) {
    case 'stranger':
      return [];
    case 'victim':
      return [victim];
    case 'sound':
      return [nodes[1] ?? victim];
    case 'everyone':
      return nodes;
  }
}

export const STRANGER = '192.0.2.9';

/** When the last of what people do is over. */
export function dumpDeedsEndMs(dumps: Dumps | undefined): number {
  return Math.max(0, ...(dumps?.deeds ?? []).map(({ atMs, durationMs }) => atMs + durationMs));
}
