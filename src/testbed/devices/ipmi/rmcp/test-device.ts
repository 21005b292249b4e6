import { MemoryMachine } from '../../bmc/power-backend.ts';
import type { DeviceEvent } from '../../../../laws/trace.ts';
import type { Clock } from '../../../../ports/clock.ts';
import { seededChance } from '../seeded-chance.ts';
import { IpmiDevice, type IpmiDeviceOptions } from './ipmi-device.ts';
import { PRIVILEGE } from './sessions.ts';
import { TestConsole, type TestConsoleOptions } from './test-console.ts';

export const TEST_UUID = '12345678-9abc-4def-8123-456789abcdef';

/** A clock that stands still until it is told to go on. */
class HandClock implements Clock {
  #nowMs = 0;
  #waiting: { atMs: number; callback: () => void }[] = [];

  monotonicMs(): number {
    return this.#nowMs;
  }

  bootMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const entry = { atMs: this.#nowMs + delayMs, callback };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== entry);
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  pass(durationMs: number): void {
    this.#nowMs += durationMs;
    const due = this.#waiting.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#waiting = this.#waiting.filter(({ atMs }) => atMs > this.#nowMs);
    for (const { callback } of due) callback();
  }
}

/** An emulated BMC with three users, a machine that is a variable and everything it did recorded; for tests. */
export function testDevice(overrides: Partial<IpmiDeviceOptions> = {}) {
  const clock = new HandClock();
  const machine = new MemoryMachine('on');
  const events: DeviceEvent[] = [];
  const device = new IpmiDevice({
    clock,
    random: { ...seededChance(1), uuid: () => TEST_UUID },
    node: 'a',
    uuid: TEST_UUID,
    users: {
      admin: { password: 'secret', privilege: PRIVILEGE.administrator },
      operator: { password: 'secret', privilege: PRIVILEGE.operator },
      viewer: { password: 'secret', privilege: PRIVILEGE.user },
    },
    backend: machine,
    trace: (event) => events.push(event),
    ...overrides,
  });
  const console = (options: TestConsoleOptions = {}): TestConsole => new TestConsole((datagram) => device.handle(datagram), options);
  const loggedIn = (options: TestConsoleOptions = {}): TestConsole => {
    const opened = console(options);
    const status = opened.logIn();
    if (status !== 0) throw new Error(`the login ended with status ${status}`);
    return opened;
  };
  return { clock, machine, events, device, console, loggedIn };
}
