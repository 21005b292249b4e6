import type { Clock } from '../../src/ports/clock.ts';
import { AgentError, type Target } from '../../src/ports/agents.ts';
import { Call } from '../shared/call.ts';
import { Account } from './account.ts';
import { Boots } from './boots.ts';
import { Connection } from './connection.ts';
import { ExchangeError } from './exchange-error.ts';
import { Machine } from './machine.ts';
import { Manager } from './manager.ts';
import { Outlets } from './outlets.ts';
import type { RedfishSettings } from './parameters.ts';
import type { Recollection } from './recollection.ts';
import type { Subject } from './resource-view.ts';
import { Session } from './session.ts';
import type { Authorities } from './socket.ts';
import { Tasks } from './task.ts';

const CLOSE_DEADLINE_MS = 3_000;

/** One BMC under one login: connection, session and what was found behind it. Calls on it run one at a time. */
export class Device {
  readonly session: Session;
  readonly subject: Subject;
  readonly tasks: Tasks;
  readonly account: Account;
  readonly boots: Boots;
  readonly #settings: RedfishSettings;
  readonly #connection: Connection;
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();

  /** `onAnswer` is called with the call whenever the device has answered; `nextBoot` names boots, each by another name. */
  constructor(
    settings: RedfishSettings,
    clock: Clock,
    { authorities, recollection }: { authorities: Authorities; recollection: Recollection },
    onAnswer: (call: Call) => void,
    nextBoot: () => string,
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#connection = new Connection(settings, clock, authorities, recollection, {
      answered: (call, answer) => {
        onAnswer(call);
        this.boots.answered(answer);
      },
      failed: (message) => this.boots.failed(message),
      closed: () => this.boots.closed(),
    });
    this.session = new Session(this.#connection, clock, recollection, () => this.boots.sessionLost());
    this.boots = new Boots(new Manager(this.session), clock, settings.bootMaxMs, nextBoot);
    this.subject =
      settings.resource === 'outlet' ? new Outlets(this.session, settings, clock) : new Machine(this.session, settings, clock, recollection);
    this.tasks = new Tasks(this.session, clock);
    this.account = new Account(this.session, settings, recollection);
  }

  /** Runs `work` after the calls before it; whatever ends the call is a typed error of the contract. */
  async exclusive<T>(call: Call, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    let done: () => void = () => undefined;
    this.#last = new Promise<void>((resolve) => (done = resolve));
    try {
      await call.within(before);
      if (call.ended !== undefined) throw call.endedError();
      return await work();
    } catch (error) {
      if (error instanceof ExchangeError) throw error.typed(call);
      if (error instanceof AgentError || call.ended === undefined) throw error;
      throw call.endedError();
    } finally {
      // Those behind wait for whoever is still before us, too.
      void before.then(done);
    }
  }

  /**
   * Ends the session at the device and the connection after the call that is under way, within 3 s. Never rejects: a device that cannot be
   * asked ends its session by itself. Not to be used afterwards.
   */
  async close(): Promise<void> {
    const { host, port } = this.#settings;
    const target: Target = {
      plug: '',
      device: `${host}:${port}`,
      parameters: {},
      identity: { node: '' },
      signal: new AbortController().signal,
      deadlineMs: CLOSE_DEADLINE_MS,
      beforeSend: () => undefined,
    };
    const call = new Call(this.#clock, target, 'end of session');
    try {
      await call.within(this.#last);
      await this.session.close(call);
    } catch (error) {
      if (!(error instanceof ExchangeError) && !(error instanceof AgentError)) throw error;
    } finally {
      call.release();
      this.subject.forget();
      this.#connection.close();
    }
  }
}
