import { elements, encode, encodeInteger, encodeOid, integer, oid, TAG } from './ber.ts';

/** A value of the tree. */
export type TreeValue = { integer: number } | { gauge: number } | { text: string | Uint8Array } | { oid: string };

export type RequestKind = 'get' | 'next' | 'set' | 'bulk';

export interface SnmpRequest {
  /** 0 is SNMP 1, 1 is SNMP 2c. */
  version: number;
  community: string;
  kind: RequestKind;
  id: number;
  nonRepeaters: number;
  repetitions: number;
  bindings: readonly { oid: string; integer: number | undefined }[];
}

export interface AnswerBinding {
  oid: string;
  /** What stands in place of a value in SNMP 2c; `null` where the value is not told. */
  value: TreeValue | 'noSuchInstance' | 'endOfMibView' | null;
}

const KINDS: Readonly<Record<number, RequestKind>> = { 0xa0: 'get', 0xa1: 'next', 0xa3: 'set', 0xa5: 'bulk' };
const RESPONSE = 0xa2;

/** Error-status of RFC 3416. */
export const STATUS = { noError: 0, noSuchName: 2, genErr: 5, noAccess: 6, wrongValue: 10, inconsistentValue: 12, notWritable: 17 } as const;

/** Reads a request of SNMP 1 or 2c; undefined for anything else. */
export function parseRequest(datagram: Buffer): SnmpRequest | undefined {
  try {
    const [message] = elements(datagram);
    const [version, community, pdu] = message === undefined ? [] : elements(message.content);
    const kind = pdu === undefined ? undefined : KINDS[pdu.tag];
    if (version === undefined || community === undefined || pdu === undefined || kind === undefined || integer(version) > 1) return undefined;
    const [id, second, third, list] = elements(pdu.content);
    if (id === undefined || second === undefined || third === undefined || list === undefined) return undefined;
    const bindings = elements(list.content).map(({ content }) => {
      const [name, value] = elements(content);
      if (name === undefined || value === undefined) throw new RangeError('a binding without a value');
      return { oid: oid(name), integer: value.tag === TAG.integer ? integer(value) : undefined };
    });
    return {
      version: integer(version),
      community: community.content.toString(),
      kind,
      id: integer(id),
      nonRepeaters: integer(second),
      repetitions: integer(third),
      bindings,
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export function encodeAnswer(request: SnmpRequest, status: number, errorIndex: number, bindings: readonly AnswerBinding[]): Buffer {
  const list = bindings.map(({ oid: name, value }) => encode(TAG.sequence, encodeOid(name), encodeValue(value)));
  return encode(
    TAG.sequence,
    encodeInteger(request.version),
    encode(TAG.octets, Buffer.from(request.community)),
    encode(RESPONSE, encodeInteger(request.id), encodeInteger(status), encodeInteger(errorIndex), encode(TAG.sequence, ...list)),
  );
}

function encodeValue(value: AnswerBinding['value']): Buffer {
  if (value === null) return encode(TAG.null);
  if (typeof value === 'string') return encode(TAG[value]);
  if ('integer' in value) return encodeInteger(value.integer);
  if ('gauge' in value) return encodeInteger(value.gauge, TAG.gauge);
  if ('text' in value) return encode(TAG.octets, Buffer.from(value.text));
  return encodeOid(value.oid);
}
