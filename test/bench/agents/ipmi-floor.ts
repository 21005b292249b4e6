import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { securedDatagram } from '../../../agents/ipmi/native/datagram.ts';
import { PRIVILEGE } from '../../../agents/ipmi/native/handshake.ts';
import { logIn } from '../../../agents/ipmi/native/login.ts';
import { requestBytes } from '../../../agents/ipmi/native/message.ts';
import { parseSettings } from '../../../agents/ipmi/parameters.ts';
import { Call } from '../../../agents/shared/call.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import type { Target } from '../../../src/ports/agents.ts';
import { rounded } from '../figures.ts';
import { median } from '../median.ts';
import type { Way } from './single.ts';

const LOGIN_WAIT_MS = 1_000;
const PRIVILEGE_REQUEST = { netFn: 0x06, command: 0x3b, data: [PRIVILEGE.administrator] };
const OFF = { netFn: 0x00, command: 0x02, data: [0] };
const ON = { netFn: 0x00, command: 0x02, data: [1] };
const STATUS = { netFn: 0x00, command: 0x01, data: [] };

type Command = Pick<Parameters<typeof requestBytes>[0], 'netFn' | 'command' | 'data'>;

/**
 * The datagrams of an off and of the read behind it, made beforehand, each sent when the one before has been answered, and no answer read: what the BMC and
 * the kernel take, which nobody can do without. `warmUp`: so many are not measured.
 */
export async function bareWay(name: string, target: Target, { count, warmUp }: { count: number; warmUp: number }): Promise<Way> {
  const settings = parseSettings(target.parameters);
  if ('problems' in settings) throw new Error(settings.problems.join('; '));
  const call = new Call(new SystemClock(), target, 'floor');
  const { link, systemID, keys } = await logIn(settings, '3', call, new SystemClock(), { waitMs: LOGIN_WAIT_MS });
  const socket = createSocket('udp4');
  socket.connect(settings.port, settings.host);
  await once(socket, 'connect');
  let made = 0;
  const datagramOf = (command: Command): Buffer => {
    made += 1;
    const encrypted = keys.encrypt(requestBytes({ ...command, sequence: made % 64 }));
    return securedDatagram(systemID, made, encrypted, keys.codeBytes, (covered) => keys.sign(covered));
  };
  const answered = async (datagram: Buffer): Promise<void> => {
    const answer = new Promise((resolve) => socket.once('message', resolve));
    socket.send(datagram);
    await answer;
  };
  try {
    await answered(datagramOf(PRIVILEGE_REQUEST));
    const rounds = Array.from({ length: warmUp + count }, () => [OFF, STATUS, ON].map(datagramOf));
    const samples: number[] = [];
    for (const [off, status, on] of rounds) {
      const began = performance.now();
      for (const datagram of [off, status]) if (datagram !== undefined) await answered(datagram);
      samples.push(performance.now() - began);
      if (on !== undefined) await answered(on);
    }
    return { name, offMs: rounded(median(samples.slice(warmUp))), count, ratio: 1 };
  } finally {
    socket.close();
    link.close();
    call.release();
  }
}
