import type { DeviceEvent } from '../../../../laws/trace.ts';
import { uuidOf } from '../guid.ts';
import { commandName, COMPLETION, CONTROLS } from './commands.ts';
import type { Message } from './message.ts';

/** What one request and its answer say, but for time, device and session. */
export type Said = Pick<DeviceEvent, 'action' | 'want' | 'answer' | 'shown'>;

/** Two digits, as the specification writes status and completion codes. */
export function hexByte(value: number): string {
  return value.toString(16).padStart(2, '0');
}

/** One event for each edge that a chassis control asks for; `diag` asks for none. */
export function controlEvents(number: number, completion: number): Said[] {
  const { name, turns } = CONTROLS[number] ?? { name: `control ${number}`, turns: [] };
  const event = { action: 'set', answer: `${hexByte(completion)} ${name}` } as const;
  return turns.length === 0 ? [event] : turns.map((want) => ({ ...event, want }));
}

export function statusEvent(completion: number, shown: 'on' | 'off'): Said {
  if (completion !== COMPLETION.ok) return { action: 'read', answer: hexByte(completion), shown: 'unknown' };
  return { action: 'read', answer: `00 ${shown}`, shown };
}

export function identityEvent(guid: Buffer): Said {
  return { action: 'identity', answer: `00 ${uuidOf(guid)}` };
}

/** What a response that came by says; nothing for all that is of no concern to the laws. */
export function eventsOf(request: Message, response: Message): Said[] {
  const completion = response.data[0] ?? COMPLETION.unspecified;
  const data = response.data.subarray(1);
  switch (commandName(request.netFn, request.command)) {
    case 'chassis status':
      return [statusEvent(completion, ((data[0] ?? 0) & 1) === 1 ? 'on' : 'off')];
    case 'chassis control':
      return controlEvents((request.data[0] ?? 0xff) & 0x0f, completion);
    case 'system guid':
      return completion === COMPLETION.ok && data.length === 16 ? [identityEvent(data)] : [];
    default:
      return [];
  }
}
