import type { BmcFaults } from '../../bmc/faults.ts';
import type { DeviceEvent } from '../../../../laws/trace.ts';
import type { PowerSwitch } from '../power-switch.ts';
import { commandName, COMPLETION } from '../rmcp/commands.ts';
import { controlEvents, eventsOf, hexByte, type Said } from '../rmcp/device-events.ts';
import type { Message } from '../rmcp/message.ts';
import type { TapListener } from '../rmcp/session-tap.ts';

const CYCLE = 2;

interface OpenControl {
  session: string;
  request: Message;
}

/**
 * Joins what ipmi_sim's chassis program was told with what was heard on the wire, so that a set stands in the trace before the machine
 * feels it, with the session that it came over.
 */
export class SimChassis implements TapListener {
  readonly #power: PowerSwitch;
  readonly #faults: () => BmcFaults;
  readonly #record: (event: Said & Pick<DeviceEvent, 'session'>) => void;
  /** Controls that were asked for and are neither carried out nor answered yet. */
  #open: OpenControl[] = [];
  #isCycling = false;

  constructor(power: PowerSwitch, faults: () => BmcFaults, record: (event: Said & Pick<DeviceEvent, 'session'>) => void) {
    this.#power = power;
    this.#faults = faults;
    this.#record = record;
  }

  onLogin(session: string, answer: number): void {
    this.#record({ action: 'login', answer: hexByte(answer), session });
  }

  onRequest(session: string, request: Message): void {
    if (commandName(request.netFn, request.command) !== 'chassis control') return;
    // A console has one request at a time: what it asked before was lost on the way.
    this.#open = [...this.#open.filter((each) => each.session !== session), { session, request }];
  }

  onResponse(session: string, request: Message, response: Message): void {
    const isControl = commandName(request.netFn, request.command) === 'chassis control';
    const isOpen = this.#open.some((each) => each.request === request);
    this.#open = this.#open.filter((each) => each.request !== request);
    // A control that was carried out is on record already.
    if (isControl && !isOpen) return;
    for (const event of eventsOf(request, response)) this.#record({ ...event, session });
  }

  /** A line of the chassis program: `power 0`, `power 1`, `reset 1`, `shutdown 1`. */
  told(line: string): void {
    const turns = turnsOf(line);
    const asked = this.#open.shift();
    if (asked !== undefined) {
      const number = controlNumber(asked.request);
      for (const event of controlEvents(number, COMPLETION.ok)) this.#record({ ...event, session: asked.session });
      this.#isCycling = number === CYCLE;
    } else if (this.#isCycling && line === 'power 1') {
      // The second half of a cycle comes from the simulator itself, long after the whole was recorded.
      this.#isCycling = false;
    } else {
      for (const want of turns) this.#record({ action: 'set', want, answer: `00 ${line}`, session: 'unheard' });
    }
    this.#power.turn(turns, this.#faults());
  }
}

function controlNumber(request: Message): number {
  return (request.data[0] ?? 0xff) & 0x0f;
}

function turnsOf(line: string): readonly ('on' | 'off')[] {
  switch (line) {
    case 'power 1':
      return ['on'];
    case 'reset 1':
      return ['off', 'on'];
    default:
      return ['off'];
  }
}
