import { plainDatagram, plainMessage } from './datagram.ts';
import { requestBytes, responseTo, type Request, type Response } from './message.ts';

/** What a BMC tells strangers (Get Channel Authentication Capabilities, section 22.13). Nobody vouches for it. */
export interface Capabilities {
  speaksIpmi2: boolean;
  hasKey: boolean;
}

/** This channel, and the extended answer that tells of IPMI 2.0. */
const THIS_CHANNEL = 0x8e;

/** The question, for a link. A BMC that refuses to tell is taken to be a good one. */
export function capabilitiesQuestion(privilege: number): { datagram: () => Buffer; accept: (received: Buffer) => Capabilities | undefined } {
  const request: Request = { netFn: 0x06, command: 0x38, data: [THIS_CHANNEL, privilege], sequence: 0 };
  return {
    datagram: () => plainDatagram(requestBytes(request)),
    accept: (received) => {
      const message = plainMessage(received);
      const response = message === undefined ? undefined : responseTo(request, message);
      return response === undefined ? undefined : capabilitiesOf(response);
    },
  };
}

function capabilitiesOf({ completion, data }: Response): Capabilities {
  if (completion !== 0 || data.length < 4) return { speaksIpmi2: true, hasKey: false };
  const isExtended = (data.readUInt8(1) & 0x80) !== 0;
  return { speaksIpmi2: isExtended && (data.readUInt8(3) & 0x02) !== 0, hasKey: (data.readUInt8(2) & 0x20) !== 0 };
}
