import type { Call, CallTarget } from '../../shared/call.ts';
import { plainDatagram, plainMessage } from './datagram.ts';
import { requestBytes, responseTo, type Request, type Response } from './message.ts';
import { describeSilence, type UdpLink } from './udp-link.ts';

/** What a BMC tells strangers (Get Channel Authentication Capabilities, section 22.13). Nobody vouches for it. */
export interface Capabilities {
  speaksIpmi2: boolean;
  hasKey: boolean;
}

/** This channel, and the extended answer that tells of IPMI 2.0. */
const THIS_CHANNEL = 0x8e;

/** Asks a BMC who is there; one that refuses to tell is taken to be a good one. Rejects with `AgentError` where nobody answers. */
export async function capabilities(link: UdpLink, call: Call<CallTarget>, privilege: number): Promise<Capabilities> {
  const request: Request = { netFn: 0x06, command: 0x38, data: [THIS_CHANNEL, privilege], sequence: 0 };
  const datagram = plainDatagram(requestBytes(request));
  const heard = await link.ask(call, {
    datagram: () => datagram,
    accept: (received) => {
      const message = plainMessage(received);
      return message === undefined ? undefined : responseTo(request, message);
    },
  });
  if (heard.kind === 'ended') throw call.endedError();
  if (heard.kind === 'silence') throw call.error('Unreachable', describeSilence('no answer from the BMC', heard));
  return capabilitiesOf(heard.value);
}

function capabilitiesOf({ completion, data }: Response): Capabilities {
  if (completion !== 0 || data.length < 4) return { speaksIpmi2: true, hasKey: false };
  const isExtended = (data.readUInt8(1) & 0x80) !== 0;
  return { speaksIpmi2: isExtended && (data.readUInt8(3) & 0x02) !== 0, hasKey: (data.readUInt8(2) & 0x20) !== 0 };
}
