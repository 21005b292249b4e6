import type { ApiEvent, DeviceEvent } from '../../../src/laws/trace.ts';
import type { ObjectMeta } from '../../../src/ports/objects.ts';

const MACHINES = 'machines.machine.sapcloud.io';
const PRESERVE = 'node.machine.sapcloud.io/preserve';
const LAST_APPLIED = 'node.machine.sapcloud.io/last-applied-node-preserve-value';
const NODE_LABEL = 'node';
/** What keeps a machine that has an expiry. */
const KEEPING: ReadonlySet<string | undefined> = new Set(['now', 'when-failed', 'auto-preserve', 'auto-preserved']);
/** A set that was on its way when the machine came to be kept is no fault: its deadline, and how long a request may be on its way. */
const UNDER_WAY_MS = 12_000;
/** Until then somebody leads who has taken down that the Node's word is gone, and with it the Machine's of before; one that stands then is a new one. */
const TAKEN_DOWN_MS = 30_000;
/** By how much clocks may disagree about the end of a time, where none of them jumps or drifts. */
const MARGIN_MS = 10_000;

/** A deletion leaves within 4 s of the last read of the device, and takes effect within 4 s of its arrival, and the way: no power that came back since is seen. */
const LATE_MS = 9_000;

interface KeptMachine {
  metadata: ObjectMeta;
  status?: { currentStatus?: { phase?: string; preserveExpiryTime?: string } };
}

interface KnownNode {
  metadata: ObjectMeta;
  status?: { conditions?: { type?: string; status?: string }[] };
}

/** Since when somebody wants this, until when. */
interface Wish {
  text: string;
  sinceMs: number;
  untilMs: number;
}

export interface KeptTruth {
  nowMs: () => number;
  wallMs: () => number;
  /** True power of the machine of a node. */
  power: (node: string) => 'on' | 'off' | undefined;
  /** For how long it is on by somebody who is no controller, while nothing on it runs yet. */
  restoredForMs: (node: string) => number | undefined;
  isOurs: (user: string) => boolean;
  /** The incident that the fence of a node stands in. */
  incident: (node: string) => number;
  /** Clocks jump: nobody can tell what a controller takes for the end of a time. */
  hasJumps: boolean;
  /** By which part of the time that has passed two clocks may have drifted apart. */
  drift: number;
}

/** Machines that are preserved, as the API server has them, judged at every off and every deletion. Returns what is broken, in words. */
export class Kept {
  readonly #truth: KeptTruth;
  readonly #machines = new Map<string, KeptMachine>();
  readonly #nodes = new Map<string, KnownNode>();
  /** By node. */
  readonly #wishes = new Map<string, Wish>();
  /** When the word of a node was taken away that its Machine still remembers: what the Machine says itself does not count. */
  readonly #taken = new Map<string, number>();
  /** The incident in which an off was first sent: what was begun is carried through. */
  readonly #switched = new Map<string, number>();

  constructor(truth: KeptTruth) {
    this.#truth = truth;
  }

  hear(event: ApiEvent): string | undefined {
    const isWrite = event.verb === 'create' || event.verb === 'update' || event.verb === 'patch' || event.verb === 'delete';
    if (!isWrite || event.status >= 300 || event.object === undefined) return undefined;
    if (event.resource === 'nodes') {
      const node = event.object as KnownNode;
      if (event.verb === 'delete') this.#nodes.delete(node.metadata.name);
      else this.#nodes.set(node.metadata.name, node);
      this.#look(node.metadata.name);
    }
    return event.resource === MACHINES ? this.#machineWritten(event, event.object as KeptMachine) : undefined;
  }

  /** A device was asked something. */
  asked({ node, device, action, want, answer, shown }: DeviceEvent): string | undefined {
    const incident = this.#truth.incident(node);
    if (action === 'read' && shown === 'off') this.#switched.set(node, incident);
    if (action !== 'set' || want !== 'off' || (answer !== '204' && answer !== 'lost')) return undefined;
    const isFirst = this.#switched.get(node) !== incident;
    this.#switched.set(node, incident);
    const kept = this.#keptFor(node);
    return isFirst && kept !== undefined ? `P6: ${device} was set off although its machine is preserved (${kept})` : undefined;
  }

  /** Machines whose end has begun and is not over, each in words. */
  terminating(): string[] {
    return [...this.#machines].flatMap(([node, { status }]) => (status?.currentStatus?.phase === 'Terminating' ? [node] : []));
  }

  #machineWritten(event: ApiEvent, machine: KeptMachine): string | undefined {
    const node = machine.metadata.labels?.[NODE_LABEL] ?? '';
    const violation = event.verb === 'delete' && this.#truth.isOurs(event.user) ? this.#deleted(node, machine.metadata.name) : undefined;
    const isGoing = event.verb === 'delete' || machine.metadata.deletionTimestamp !== undefined;
    if (isGoing) this.#machines.delete(node);
    else this.#machines.set(node, machine);
    this.#look(node);
    return violation;
  }

  #deleted(node: string, name: string): string | undefined {
    const kept = this.#keptFor(node);
    if (kept !== undefined) return `P6: Machine ${name} was deleted although it is preserved (${kept})`;
    const isUnderWay = (this.#truth.restoredForMs(node) ?? Infinity) <= LATE_MS;
    const isOn = this.#nodes.has(node) && this.#truth.power(node) === 'on' && !isUnderWay;
    return isOn ? `P1: Machine ${name} was deleted while ${node} was on` : undefined;
  }

  #keptFor(node: string): string | undefined {
    const wish = this.#wishes.get(node);
    if (wish === undefined || this.#truth.hasJumps) return undefined;
    const { nowMs, wallMs, drift } = this.#truth;
    const stoodMs = nowMs() - wish.sinceMs;
    return stoodMs > UNDER_WAY_MS && wallMs() < wish.untilMs - MARGIN_MS - drift * nowMs()
      ? `${wish.text} for ${(stoodMs / 1_000).toFixed(0)} s`
      : undefined;
  }

  /** Both where the value stands and the end of its time, as they are read together. */
  #look(node: string): void {
    const machine = this.#machines.get(node);
    const expiry = machine?.status?.currentStatus?.preserveExpiryTime;
    const known = this.#nodes.get(node);
    const word = known?.metadata.annotations?.[PRESERVE];
    const value = word ?? machine?.metadata.annotations?.[PRESERVE];
    const isTaken = known !== undefined && word === undefined && (machine?.metadata.annotations?.[LAST_APPLIED] ?? '') !== '';
    const takenMs = isTaken ? (this.#taken.get(node) ?? this.#truth.nowMs()) : undefined;
    if (takenMs === undefined) this.#taken.delete(node);
    else this.#taken.set(node, takenMs);
    // Whoever failed and is Ready again is kept by `now` alone.
    const hasRecovered = value !== 'now' && known?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
    if (expiry === undefined || !KEEPING.has(value) || hasRecovered || machine?.status?.currentStatus?.phase === 'Terminating') {
      this.#wishes.delete(node);
      return;
    }
    const text = `${value ?? ''} until ${expiry}${isTaken ? ', and its Node says so no more' : ''}`;
    if (this.#wishes.get(node)?.text === text) return;
    const sinceMs = takenMs === undefined ? this.#truth.nowMs() : takenMs + TAKEN_DOWN_MS;
    this.#wishes.set(node, { text, sinceMs, untilMs: Date.parse(expiry) });
  }
}
