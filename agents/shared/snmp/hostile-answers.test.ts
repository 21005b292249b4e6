import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';

import { afterEach, describe, expect, it } from 'vitest';

import { elements, encode, encodeInteger, encodeOid, integer, TAG } from '../../../src/testbed/devices/snmp/ber.ts';
import { encodeAnswer, parseRequest } from '../../../src/testbed/devices/snmp/message.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { Call, type CallTarget } from '../call.ts';
import { SnmpClient } from './client.ts';
import type { SnmpSettings } from './settings.ts';

const OID = '1.3.6.1.4.1.318.1.1.4.4.2.1.3.1';
const ENGINE = Buffer.from('8000000001020304', 'hex');
const clock = new SystemClock();
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Reply = (datagram: Buffer, from: RemoteInfo, socket: Socket) => void;

async function listener(reply: Reply): Promise<Socket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  socket.on('message', (datagram, from) => reply(datagram, from, socket));
  closing.push(() => socket.close());
  return socket;
}

async function ask(reply: Reply, security: SnmpSettings['security']): Promise<unknown> {
  const { port } = (await listener(reply)).address();
  const client = new SnmpClient({ host: '127.0.0.1', port, family: undefined, tryMs: 150, security }, clock);
  closing.push(() => void client.close());
  const call = new Call<CallTarget>(clock, { device: 'd', plug: '', signal: new AbortController().signal, deadlineMs: 20_000 }, 'a test');
  try {
    return await client.get(call, [OID]);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  } finally {
    call.release();
  }
}

const COMMUNITY = { version: '2c', community: 'some community' } as const;
const USER = {
  version: '3',
  name: 'fencer',
  context: '',
  authentication: { protocol: 'SHA-256', password: 'long enough' },
  privacy: undefined,
} as const;

/** An SNMP 3 message that nobody has signed, about the message with this number. */
function unsigned(messageId: number, pduTag: number, bindings: Buffer): Buffer {
  const empty = encode(TAG.octets);
  const engine = encode(TAG.octets, ENGINE);
  const global = encode(TAG.sequence, encodeInteger(messageId), encodeInteger(65_507), encode(TAG.octets, Buffer.from([0])), encodeInteger(3));
  const security = encode(TAG.sequence, engine, encodeInteger(1), encodeInteger(100), encode(TAG.octets, Buffer.from('fencer')), empty, empty);
  const pdu = encode(pduTag, encodeInteger(1), encodeInteger(0), encodeInteger(0), encode(TAG.sequence, bindings));
  return encode(TAG.sequence, encodeInteger(3), global, encode(TAG.octets, security), encode(TAG.sequence, engine, empty, pdu));
}

function messageIdOf(datagram: Buffer): { id: number; isSigned: boolean } {
  const [message] = elements(datagram);
  const [, global] = elements(message!.content);
  const [id, , flags] = elements(global!.content);
  return { id: integer(id!), isSigned: (flags!.content[0]! & 1) === 1 };
}

const OFF = encode(TAG.sequence, encodeOid(OID), encodeInteger(2));
const UNKNOWN_ENGINE = encode(TAG.sequence, encodeOid('1.3.6.1.6.3.15.1.1.4.0'), encodeInteger(1, 0x41));

describe("an answer that is not the device's", () => {
  it('is dropped when it is not signed although the user is, with the right number and all', async () => {
    let forged = 0;
    const outcome = await ask((datagram, from, socket) => {
      const { id, isSigned } = messageIdOf(datagram);
      if (isSigned) forged += 1;
      socket.send(isSigned ? unsigned(id, 0xa2, OFF) : unsigned(id, 0xa8, UNKNOWN_ENGINE), from.port, from.address);
    }, USER);
    expect(forged).toBeGreaterThan(0);
    expect(outcome).toMatch(/no answer by SNMP 3; what came was an answer without a signature/);
  });

  it('is dropped when it comes from another port', async () => {
    const other = await listener(() => undefined);
    const outcome = await ask((datagram, from) => {
      const request = parseRequest(datagram)!;
      other.send(encodeAnswer(request, 0, 0, [{ oid: OID, value: { integer: 2 } }]), from.port, from.address);
    }, COMMUNITY);
    expect(outcome).toMatch(/no answer/);
  });

  it.each([
    [
      'is about another object',
      (request: ReturnType<typeof parseRequest>) => encodeAnswer(request!, 0, 0, [{ oid: `${OID}1`, value: { integer: 2 } }]),
      /other objects/,
    ],
    [
      'has another number',
      (request: ReturnType<typeof parseRequest>) => encodeAnswer({ ...request!, id: request!.id + 1 }, 0, 0, [{ oid: OID, value: { integer: 2 } }]),
      /no answer/,
    ],
    [
      'is in another version',
      (request: ReturnType<typeof parseRequest>) => encodeAnswer({ ...request!, version: 0 }, 0, 0, [{ oid: OID, value: { integer: 2 } }]),
      /another version/,
    ],
    ['has no values', (request: ReturnType<typeof parseRequest>) => encodeAnswer(request!, 0, 0, []), /other objects/],
    [
      'has another community',
      (request: ReturnType<typeof parseRequest>) => encodeAnswer({ ...request!, community: 'x' }, 0, 0, [{ oid: OID, value: { integer: 2 } }]),
      /not valid/,
    ],
  ])('is no reading when it %s', async (_name, answer, words) => {
    const outcome = await ask((datagram, from, socket) => socket.send(answer(parseRequest(datagram)), from.port, from.address), COMMUNITY);
    expect(outcome).toMatch(words);
    expect(outcome).not.toContain('some community');
  });

  it('never ends the process, wherever it is cut and whichever byte of it is changed', async () => {
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    let sent = 0;
    const outcome = await ask((datagram, from, socket) => {
      const honest = encodeAnswer(parseRequest(datagram)!, 0, 0, [{ oid: OID, value: { integer: 2 } }]);
      for (let cut = 0; cut < honest.length; cut++) socket.send(honest.subarray(0, cut), from.port, from.address);
      for (let count = 0; count < 200; count++) {
        const changed = Buffer.from(honest);
        // Neither the number nor the name nor the value: those would be a true answer to something.
        changed[random(20)] = random(256);
        changed[random(honest.length)] = 0xff;
        socket.send(changed, from.port, from.address);
      }
      sent += 1;
    }, COMMUNITY);
    expect(sent).toBeGreaterThan(0);
    expect(outcome).not.toEqual([{ kind: 'integer', integer: 2 }]);
  });
});
