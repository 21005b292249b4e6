import type { Socket } from 'node:net';

import { AgentError, type DeviceBoot } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import { ExchangeError } from './exchange-error.ts';
import type { Manager, ManagerView } from './manager.ts';
import type { ResourceView } from './resource-view.ts';

/** Clocks are set, and times of a start are reckoned from an uptime: so much is no other boot. */
const SLACK_MS = 5_000;
/** A device that closes sooner than this after an answer, by its own word, is not taken to have restarted. */
const KEPT_MIN_SECONDS = 3;

/** What an answer says of the connection that it came over. */
interface Answered {
  socket: Socket;
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The device closes the connection behind it. */
  isLast: boolean;
}

/**
 * The boots of one BMC. A connection, and a session, that stands from one answer to the next rules a restart out and costs no request; where one was lost, or
 * the device was silent, only its Manager's own LastResetTime does.
 */
export class Boots {
  readonly #manager: Manager;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #startMaxMs: number;
  readonly #nextId: () => string;
  #id: string;
  #cause = '';
  #socket: Socket | undefined;
  /** The device said that it would close the last connection. */
  #mayClose = false;
  /** Something since the last reading that a restart would show too. */
  #doubt: string | undefined;
  #latestDateMs = Number.NEGATIVE_INFINITY;
  #isOnSeen = false;
  #seen: { view: ManagerView; atMs: number } | undefined;
  #isLooked = false;

  constructor(manager: Manager, clock: Pick<Clock, 'monotonicMs'>, startMaxMs: number, nextId: () => string) {
    this.#manager = manager;
    this.#clock = clock;
    this.#startMaxMs = startMaxMs;
    this.#nextId = nextId;
    this.#id = nextId();
  }

  answered({ socket, status, headers, isLast }: Answered): void {
    if (this.#socket !== undefined && socket !== this.#socket && !this.#mayClose) this.#doubt ??= 'it closed the connection';
    this.#socket = socket;
    this.#mayClose = isLast || isBriefly(headers['keep-alive']);
    if (status === 503) this.#doubt ??= 'it answered HTTP 503';
    const dateMs = Date.parse(headers['date'] ?? '');
    if (dateMs < this.#latestDateMs - SLACK_MS) this.#begin('its clock went back');
    if (!Number.isNaN(dateMs)) this.#latestDateMs = dateMs;
  }

  failed(message: string): void {
    if (this.#socket !== undefined) this.#doubt ??= message;
  }

  /** By ourselves, because nobody waited for the answer any more. */
  closed(): void {
    this.#mayClose = true;
  }

  sessionLost(): void {
    this.#begin('it ended the session');
  }

  /** A look before a set: a doubt that is still open, or comes up later, takes it back. */
  saw(view: ResourceView): void {
    if (view.state === 'on') this.#isOnSeen = true;
  }

  /** The boot that a view was read in. `isStarting`: the Manager says that it has not found out about its machine yet. */
  async current(call: Call, view: ResourceView): Promise<{ boot: DeviceBoot; isStarting: boolean }> {
    const isUnproven = view.state === 'off' && !this.#isOnSeen && !this.#isLooked;
    const isFollowed = this.#mayClose && (!this.#isLooked || this.#seen?.view.resetMs !== undefined);
    let isStarting = false;
    if (this.#doubt !== undefined || isUnproven || isFollowed) isStarting = await this.#look(call, view);
    this.saw(view);
    const upMs = this.#upMs();
    return { boot: { id: this.#id, cause: this.#cause, startMaxMs: this.#startMaxMs, ...(upMs === undefined ? {} : { upMs }) }, isStarting };
  }

  async #look(call: Call, view: ResourceView): Promise<boolean> {
    const doubt = this.#doubt;
    this.#doubt = undefined;
    const before = this.#seen?.view.resetMs;
    const shown = await this.#manager.view(call, view).catch(unlessUnread);
    const isSame = before !== undefined && shown?.resetMs !== undefined && Math.abs(shown.resetMs - before) <= SLACK_MS;
    if (doubt !== undefined && !isSame) this.#begin(doubt);
    else if (before !== undefined && shown?.resetMs !== undefined && !isSame) this.#begin('its Manager shows another LastResetTime');
    // What it shows while it starts says nothing of its machine: it is asked again until it has started.
    this.#isLooked = shown?.isStarting !== true;
    if (shown !== undefined) this.#seen = { view: shown, atMs: this.#clock.monotonicMs() };
    return shown?.isStarting === true;
  }

  #upMs(): number | undefined {
    if (this.#seen?.view.upMs === undefined) return undefined;
    return this.#seen.view.upMs + this.#clock.monotonicMs() - this.#seen.atMs;
  }

  #begin(cause: string): void {
    this.#id = this.#nextId();
    this.#cause = cause;
    this.#isOnSeen = false;
    this.#isLooked = false;
    this.#seen = undefined;
  }
}

/** Servers that keep connections for a moment, or for one request more, say so (`timeout=1, max=1`). */
function isBriefly(keepAlive: string | undefined): boolean {
  const seconds = /timeout=(\d+)/i.exec(keepAlive ?? '')?.[1];
  const requests = /max=(\d+)/i.exec(keepAlive ?? '')?.[1];
  return (seconds !== undefined && Number(seconds) < KEPT_MIN_SECONDS) || (requests !== undefined && Number(requests) <= 1);
}

function unlessUnread(error: unknown): undefined {
  if (error instanceof ExchangeError || error instanceof AgentError) return undefined;
  throw error;
}
