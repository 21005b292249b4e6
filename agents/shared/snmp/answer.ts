import snmp from 'net-snmp';

/** What one sending came to. */
export type Answer<T> =
  | { kind: 'value'; value: T }
  /** The device answered with an error-status (RFC 3416 section 3). */
  | { kind: 'status'; status: number; message: string }
  /** Engine, user, key or message are not as they should be: the session is of no use any more. */
  | { kind: 'broken'; isCredential: boolean; message: string }
  /** The system could not deliver it. */
  | { kind: 'failed'; message: string };

/** RFC 3416 section 3, as the MIBs spell them. */
const STATUS_WORDS = [
  'noError',
  'tooBig',
  'noSuchName',
  'badValue',
  'readOnly',
  'genErr',
  'noAccess',
  'wrongType',
  'wrongLength',
  'wrongEncoding',
  'wrongValue',
  'noCreation',
  'inconsistentValue',
  'resourceUnavailable',
  'commitFailed',
  'undoFailed',
  'authorizationError',
  'notWritable',
  'inconsistentName',
] as const;
type StatusWord = (typeof STATUS_WORDS)[number];

function status(word: StatusWord): number {
  return STATUS_WORDS.indexOf(word);
}

export const TOO_BIG = status('tooBig');
export const NO_SUCH_NAME = status('noSuchName');
/** The device may have begun to act, or may act when it is asked again: no refusal. */
export const UNCLEAR: ReadonlySet<number> = new Set((['genErr', 'resourceUnavailable', 'commitFailed', 'undoFailed'] as const).map(status));

/** Reports of the user-based security model (RFC 3414 section 3.2), by the words of net-snmp. */
const REPORTS: readonly { begins: string; message: string; isCredential: boolean }[] = [
  { begins: 'Unsupported Security Level', message: 'usmStatsUnsupportedSecLevels: the user may not use this security level', isCredential: true },
  { begins: 'Unknown User Name', message: 'usmStatsUnknownUserNames: no such user', isCredential: true },
  { begins: 'Wrong Digest', message: 'usmStatsWrongDigests: wrong password or authentication protocol', isCredential: true },
  { begins: 'Decryption Error', message: 'usmStatsDecryptionErrors: wrong privacy password or protocol', isCredential: true },
  { begins: 'Not In Time Window', message: 'usmStatsNotInTimeWindows', isCredential: false },
  { begins: 'Unknown Engine ID', message: 'usmStatsUnknownEngineIDs', isCredential: false },
];

/** Never the library's own message: it quotes communities and digests. */
const INVALID: Readonly<Record<number, { message: string; isCredential: boolean }>> = {
  4: { message: 'an answer that cannot be decrypted: wrong privacy password or protocol', isCredential: true },
  5: { message: 'an answer with a wrong digest: wrong password or authentication protocol', isCredential: true },
  6: { message: 'an answer about other objects than were asked for', isCredential: false },
  11: { message: 'an unexpected report', isCredential: false },
  14: { message: 'an answer outside of the time window', isCredential: false },
};

/** The failure of one sending, in words that hold no secret. */
export function failureOf(error: Error): Exclude<Answer<never>, { kind: 'value' }> {
  if (error instanceof snmp.RequestFailedError) {
    const number: number = error.status;
    const oid = /: ([\d.]+)$/.exec(error.message)?.[1];
    return {
      kind: 'status',
      status: number,
      message: `${STATUS_WORDS[number] ?? 'an unknown error'} (${number})${oid === undefined ? '' : ` for ${oid}`}`,
    };
  }
  if (error instanceof snmp.ResponseInvalidError) {
    const report = REPORTS.find(({ begins }) => error.message.startsWith(begins));
    const { message, isCredential } = report ?? INVALID[error.code] ?? { message: 'an answer that is not valid', isCredential: false };
    return { kind: 'broken', isCredential, message };
  }
  return { kind: 'failed', message: 'code' in error && typeof error.code === 'string' ? error.code : 'the request could not be sent' };
}
