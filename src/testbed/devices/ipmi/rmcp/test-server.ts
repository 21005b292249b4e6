import { createSocket } from 'node:dgram';

import type { IpmiDeviceOptions } from './ipmi-device.ts';
import { testDevice } from './test-device.ts';

/** The network between a console and the emulated BMC, as a test wants it. */
export interface TestWire {
  /** Which of the console's datagrams arrive; absent: all. */
  arrives?: (datagram: Buffer) => boolean;
  /** What the console hears for an answer: nothing, the same, or anything else. */
  hears?: (answer: Buffer) => readonly Buffer[];
  /** How late an answer is. */
  delaysMs?: (answer: Buffer) => number;
  /** How often each of the console's datagrams arrives. */
  times?: number;
}

type TestServer = ReturnType<typeof testDevice> & { wire: TestWire; heard: Buffer[]; answers: Buffer[]; port: number; close: () => Promise<void> };

/** An emulated BMC behind a UDP port of this process; `heard` are the console's datagrams, also those that did not arrive. */
export async function startTestServer(overrides: Partial<IpmiDeviceOptions> = {}): Promise<TestServer> {
  const harness = testDevice(overrides);
  const wire: TestWire = {};
  const heard: Buffer[] = [];
  const answers: Buffer[] = [];
  const socket = createSocket('udp4');
  let isOpen = true;
  socket.on('message', (datagram, from) => {
    heard.push(datagram);
    if (wire.arrives?.(datagram) === false) return;
    for (let time = 0; time < (wire.times ?? 1); time += 1) {
      const answer = harness.device.handle(datagram);
      if (answer === undefined) continue;
      answers.push(answer);
      const send = (): void => {
        if (isOpen) for (const said of wire.hears?.(answer) ?? [answer]) socket.send(said, from.port, from.address);
      };
      const delayMs = wire.delaysMs?.(answer) ?? 0;
      if (delayMs === 0) send();
      else setTimeout(send, delayMs).unref();
    }
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    ...harness,
    wire,
    heard,
    answers,
    port: socket.address().port,
    close: () => {
      isOpen = false;
      return new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}
