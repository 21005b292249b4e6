import type { DaemonFencing, PlayedNode } from './played.ts';
import type { DaemonStage } from './stage.ts';

/** Faults that are played with node daemons: as real processes, each in a network namespace of its own, or simulated. */
export const DAEMON_FAULTS = [
  'api-partition',
  'peers-only',
  'full-partition',
  'rack-partition',
  'control-plane-outage',
  'storage-lost',
  'daemon-wedged',
  'daemon-killed',
  'upgrade',
  'clock-jump',
  'fast',
] as const;
export type DaemonFault = (typeof DAEMON_FAULTS)[number];

export interface DaemonScript {
  /** What is done, for the audience. */
  says: string;
  /** The nodes that must be reset, and no other one. */
  resets: 'victim' | 'rack' | 'none';
  /** `never` where the fence of a node that the API server does not hear would end its grants, as it should. */
  fencing: DaemonFencing;
  /** The storage of all nodes takes a node down that lost it for so long. */
  storageLostMs?: number;
  /** Resolves when all that belongs to it is over, with what is not as it must be. */
  play(stage: DaemonStage): Promise<string[]>;
}

/** For so long a fault that nobody must notice stands, beyond the whole time until a node that is cut off is down. */
const BEYOND_MS = 10_000;
const HOUR_MS = 3_600_000;
const RESET_MARGIN_MS = 5_000;
const RELEASED_WITHIN_MS = 60_000;
const BACK_WITHIN_MS = 60_000;
const UP_WITHIN_MS = 15_000;
/** Probes of storage come every 30 s. */
const PROBED_MS = 35_000;
const STORAGE_LOST_MS = 60_000;
const LISTENED_MS = 45_000;
const KUBERNETES_MS = 40_000;

export const DAEMON_SCRIPTS: Readonly<Record<DaemonFault, DaemonScript>> = {
  'api-partition': staysUp('cannot reach the API server, and hears the controllers', () => ['api']),
  'peers-only': staysUp('reaches neither the API server nor a controller; its peers vouch for it', ({ controllers }) => ['api', ...controllers]),
  'full-partition': { says: 'reaches nobody', resets: 'victim', fencing: 'watchdog', play: fullPartition },
  fast: { says: 'its power fails', resets: 'none', fencing: 'bmc', play: fast },
  'rack-partition': { says: 'the two nodes of a rack reach each other, and nobody else', resets: 'rack', fencing: 'watchdog', play: rackPartition },
  'control-plane-outage': {
    says: 'the API server and every controller are gone; all nodes vouch for each other',
    resets: 'none',
    fencing: 'watchdog',
    play: async (stage) => {
      stage.endControlPlane();
      await stage.pause(stage.untilDownMs + BEYOND_MS);
      const found = await Promise.all(stage.nodes.map((node) => stage.expectPhase(node.name, 'kept')));
      return found.flat();
    },
  },
  'storage-lost': {
    says: 'what reads its shared storage hangs; everything else is well',
    resets: 'victim',
    fencing: 'never',
    storageLostMs: STORAGE_LOST_MS,
    play: async (stage) => {
      const node = stage.node(stage.victim);
      // Storage that never answered cannot be lost.
      await stage.pause(PROBED_MS);
      node.setStorage('hangs');
      stage.tell(`the storage of ${stage.victim} hangs`);
      const problems = await stage.until('it takes itself down', STORAGE_LOST_MS + 3 * PROBED_MS, () => node.resets.length > 0);
      node.setStorage('answers');
      return [...problems, ...(await stage.untilArmed(node, BACK_WITHIN_MS))];
    },
  },
  'daemon-wedged': {
    says: 'its daemon stands still',
    resets: 'victim',
    fencing: 'watchdog',
    play: async (stage) => {
      const node = stage.node(stage.victim);
      const thaw = node.freezeDaemon();
      const problems = await stage.until('its watchdog resets it', stage.watchdogMs + RESET_MARGIN_MS, () => node.resets.length > 0);
      thaw();
      return [...problems, ...(await stage.untilArmed(node, BACK_WITHIN_MS))];
    },
  },
  'daemon-killed': isReplaced('its daemon is killed; another one is started a second later', (node) => node.killDaemon()),
  upgrade: isReplaced('its daemon is stopped cleanly, and another one takes its place', (node) => node.replaceDaemon()),
  'clock-jump': {
    says: 'the wall clock of its daemon jumps an hour ahead, then two hours back',
    resets: 'none',
    fencing: 'watchdog',
    play: async (stage) => {
      const node = stage.node(stage.victim);
      node.jumpDaemonClock(HOUR_MS);
      await stage.pause(BEYOND_MS);
      node.jumpDaemonClock(-2 * HOUR_MS);
      await stage.pause(stage.untilDownMs);
      return stage.expectPhase(stage.victim, 'kept');
    },
  },
};

/** Cut off from some, for longer than it takes a node to go down: others keep it up. */
function staysUp(says: string, lostBy: (stage: DaemonStage) => readonly string[]): DaemonScript {
  const play = async (stage: DaemonStage): Promise<string[]> => {
    const lost = lostBy(stage);
    stage.cut(stage.victim, lost);
    await stage.pause(stage.untilDownMs + BEYOND_MS);
    const problems = await stage.expectPhase(stage.victim, 'kept');
    stage.heal(stage.victim, lost);
    return problems;
  };
  return { says, resets: 'none', fencing: 'never', play };
}

/** Another daemon takes its place, before the watchdog notices or with the watchdog disarmed. */
function isReplaced(says: string, replace: (node: PlayedNode) => void | Promise<void>): DaemonScript {
  const play = async (stage: DaemonStage): Promise<string[]> => {
    const node = stage.node(stage.victim);
    await replace(node);
    await stage.pause(stage.watchdogMs + BEYOND_MS);
    return stage.untilArmed(node, UP_WITHIN_MS);
  };
  return { says, resets: 'none', fencing: 'watchdog', play };
}

/** Found by the silence of its daemon, its peers and its BMC, long before Kubernetes takes it for failed. */
async function fast(stage: DaemonStage): Promise<string[]> {
  // The leader judges nobody whom it has not heard, and nobody before its watches stood for one grace period.
  await stage.pause(LISTENED_MS);
  const atMs = stage.cutPower();
  const problems = await stage.until('its pods are released', RELEASED_WITHIN_MS, () => stage.isReleased());
  const tookMs = (stage.releasedAtMs() ?? Infinity) - atMs;
  stage.tell(`its pods were released ${(tookMs / 1_000).toFixed(1)} s after its power failed`);
  if (tookMs > KUBERNETES_MS)
    problems.push(`its pods were released after ${String(Math.round(tookMs))} ms: Kubernetes takes ${String(KUBERNETES_MS)} ms to notice`);
  problems.push(...(await stage.until('the fence ends in final', BACK_WITHIN_MS, () => stage.fenceState() === 'final')));
  return problems;
}

/** No vouch of its own rack keeps a node up, and none has to be promised away: the peers of the other racks are enough to prove both. */
async function rackPartition(stage: DaemonStage): Promise<string[]> {
  const { rack } = stage;
  const others = stage.names.filter((name) => !rack.includes(name));
  for (const name of rack) stage.cut(name, others);
  const areAll = (isSo: (name: string) => boolean) => (): boolean => rack.every(isSo);
  const areDown = areAll((name) => stage.node(name).resets.length > 0);
  const problems = await stage.until('both take themselves down', stage.untilDownMs + RESET_MARGIN_MS, areDown);
  const areReleased = areAll((name) => stage.isReleased(name));
  problems.push(...(await stage.until('the pods of both are released', 2 * RELEASED_WITHIN_MS, areReleased)));
  for (const name of rack) problems.push(...toldEnd(stage, name));
  for (const name of rack) stage.heal(name, others);
  const areOver = areAll((name) => stage.fenceState(name) === 'final');
  problems.push(...(await stage.until('both fences end in final', 2 * BACK_WITHIN_MS, areOver)));
  return problems;
}

/** Its pods must have ended before its silence was evidence. */
function toldEnd(stage: DaemonStage, name: string): string[] {
  const [evidenceAtMs = 0, endedAtMs = Infinity] = [stage.evidenceAtMs(name), stage.node(name).podsEndedAtMs];
  if (evidenceAtMs < endedAtMs) return [`evidence of ${name} was given ${String(Math.round(endedAtMs - evidenceAtMs))} ms before its pods had ended`];
  stage.tell(`the pods of ${name} had ended ${((evidenceAtMs - endedAtMs) / 1_000).toFixed(1)} s before its silence was evidence`);
  return [];
}

/** It goes down by itself; only then is its silence evidence, its pods are released, and it comes back once the paths are whole. */
async function fullPartition(stage: DaemonStage): Promise<string[]> {
  const { victim } = stage;
  const node = stage.node(victim);
  const others = stage.names.filter((name) => name !== victim);
  stage.cut(victim, others);
  const problems = await stage.until('it takes itself down', stage.untilDownMs + RESET_MARGIN_MS, () => node.resets.length > 0);
  problems.push(...(await stage.until('its pods are released', RELEASED_WITHIN_MS, () => stage.isReleased())));
  problems.push(...toldEnd(stage, victim));
  stage.heal(victim, others);
  problems.push(...(await stage.until('the fence ends in final', BACK_WITHIN_MS, () => stage.fenceState() === 'final')));
  return problems;
}
