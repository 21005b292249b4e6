import type { Clock } from '../../src/ports/clock.ts';
import { AgentError } from '../../src/ports/agents.ts';
import { Call } from '../shared/call.ts';
import { Connection, ExchangeError } from './connection.ts';
import { Machine } from './machine.ts';
import type { RedfishSettings } from './parameters.ts';
import { Session } from './session.ts';

const CLOSE_DEADLINE_MS = 2_000;

/** One BMC under one login: connection, session and what was found behind it. Calls on it run one at a time. */
export class Device {
  readonly settings: RedfishSettings;
  readonly connection: Connection;
  readonly session: Session;
  readonly machine: Machine;
  readonly #clock: Clock;
  /** Allowed reset types by the path of their ActionInfo. */
  readonly actionInfos = new Map<string, readonly string[] | undefined>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(settings: RedfishSettings, clock: Clock) {
    this.settings = settings;
    this.#clock = clock;
    this.connection = new Connection(settings, clock);
    this.session = new Session(this.connection);
    this.machine = new Machine(this.session, settings);
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

  /** Ends the session at the device and the connection, within 2 s. Never rejects: a device that cannot be asked ends its session by itself. */
  async close(): Promise<void> {
    const controller = new AbortController();
    const { host, port } = this.settings;
    const call = new Call(
      this.#clock,
      {
        plug: '',
        device: `${host}:${port}`,
        parameters: {},
        identity: { node: '' },
        signal: controller.signal,
        deadlineMs: CLOSE_DEADLINE_MS,
        beforeSend: () => undefined,
      },
      'end of session',
    );
    try {
      await call.within(this.#last);
      await this.session.close(call);
    } catch (error) {
      if (!(error instanceof ExchangeError) && !(error instanceof AgentError)) throw error;
    } finally {
      call.release();
      this.machine.forget();
      this.actionInfos.clear();
      this.connection.close();
    }
  }
}
