/** What can be seen of a message before anything in it is believed (RFC 1157, RFC 3412). */
export interface MessageHeader {
  /** 0 is SNMP 1, 1 is SNMP 2c, 3 is SNMP 3. */
  version: number;
  /** SNMP 3: authenticated and encrypted, as the message claims. */
  isAuthenticated: boolean;
  isPrivate: boolean;
  /** SNMP 3: the engine that claims to have sent it, in hexadecimal digits. */
  engineId: string;
  /** The kind of PDU; undefined where it is encrypted. */
  pdu: number | undefined;
}

/** The PDU tag of a report (RFC 3416 section 3). */
export const REPORT = 0xa8;

const INTEGER = 0x02;
const OCTETS = 0x04;
const SEQUENCE = 0x30;

interface Element {
  tag: number;
  content: Buffer;
  rest: Buffer;
}

/** One element of BER with a definite length; undefined when the bytes end before it does. */
function element(bytes: Buffer): Element | undefined {
  const [tag, short] = bytes;
  if (tag === undefined || short === undefined) return undefined;
  const lengthBytes = short & 0x80 ? short & 0x7f : 0;
  if (lengthBytes > 4 || short === 0x80 || bytes.length < 2 + lengthBytes) return undefined;
  const length = lengthBytes === 0 ? short : bytes.readUIntBE(2, lengthBytes);
  const begin = 2 + lengthBytes;
  if (bytes.length < begin + length) return undefined;
  return { tag, content: bytes.subarray(begin, begin + length), rest: bytes.subarray(begin + length) };
}

function tagged(bytes: Buffer, tag: number): Element | undefined {
  const found = element(bytes);
  return found?.tag === tag ? found : undefined;
}

/** Looks into a datagram; undefined when it is no complete message of SNMP. */
export function headerOf(datagram: Buffer): MessageHeader | undefined {
  const message = tagged(datagram, SEQUENCE);
  const version = message && tagged(message.content, INTEGER);
  if (version?.content.length !== 1) return undefined;
  const number = version.content.readUInt8();
  if (number === 3) return secureHeader(version.rest);
  const community = tagged(version.rest, OCTETS);
  const pdu = community && element(community.rest);
  if (pdu === undefined) return undefined;
  return { version: number, isAuthenticated: false, isPrivate: false, engineId: '', pdu: pdu.tag };
}

function secureHeader(bytes: Buffer): MessageHeader | undefined {
  const global = tagged(bytes, SEQUENCE);
  const id = global && tagged(global.content, INTEGER);
  const size = id && tagged(id.rest, INTEGER);
  const flags = size && tagged(size.rest, OCTETS);
  const security = global && tagged(global.rest, OCTETS);
  const parameters = security && tagged(security.content, SEQUENCE);
  const engine = parameters && tagged(parameters.content, OCTETS);
  if (flags?.content.length !== 1 || engine === undefined || security === undefined) return undefined;
  const bits = flags.content.readUInt8();
  const isPrivate = (bits & 2) !== 0;
  return {
    version: 3,
    isAuthenticated: (bits & 1) !== 0,
    isPrivate,
    engineId: engine.content.toString('hex'),
    pdu: isPrivate ? undefined : scopedPdu(security.rest),
  };
}

function scopedPdu(bytes: Buffer): number | undefined {
  const scoped = tagged(bytes, SEQUENCE);
  const engine = scoped && tagged(scoped.content, OCTETS);
  const context = engine && tagged(engine.rest, OCTETS);
  return context && element(context.rest)?.tag;
}
