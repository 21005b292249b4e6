/** Every failure that this program can report, in one place: docs and tests read this table. */
export interface ErrorDescription {
  code: string;
  /** What happened. */
  summary: string;
  /** What a person does about it. */
  remedy: string;
}

export const ERRORS = {
  Refused: {
    code: 'NF001',
    summary: 'The device refused the request.',
    remedy: 'Read the answer of the device in the journal: credentials, privilege or an unsupported action. The next level is tried.',
  },
  Unreachable: {
    code: 'NF002',
    summary: 'The device does not answer, or not in the expected protocol.',
    remedy: 'Check its address, network, certificate and power. Retried, then the next level.',
  },
  Timeout: {
    code: 'NF003',
    summary: 'The device did not reach the wanted state in time.',
    remedy: 'Check the machine: the device accepted the request and did nothing, or is slower than power_timeout.',
  },
  Misconfigured: {
    code: 'NF004',
    summary: 'The configuration does not fit the device or the node.',
    remedy: 'Correct what the message names; nodefence validate shows the ConfigMap, key and line.',
  },
  NotSent: { code: 'NF005', summary: 'Nothing was sent: the lease, a stop or a hold forbade it.', remedy: 'Nothing: it is decided again.' },
  ConfigurationInvalid: {
    code: 'NF006',
    summary: 'The plan of the node has errors.',
    remedy: 'Correct the ConfigMap, key and line that the message names; the next restart of the fence reads it again.',
  },
  EvidenceVoided: {
    code: 'NF007',
    summary: 'A sign of life came after the proof of off.',
    remedy: 'The device or the node is wrong: find out which machine the device really switches before anything is released.',
  },
  StepFailed: {
    code: 'NF008',
    summary: 'A step failed after its retries and levels.',
    remedy: 'Read the journal; repair the path to the device, or switch the machine off by hand and acknowledge.',
  },
  NotReady: {
    code: 'NF009',
    summary: 'The node was switched on and did not become healthy in time.',
    remedy: 'Look at its console; ready_timeout must exceed POST, boot and CNI.',
  },
  NodeGone: {
    code: 'NF010',
    summary: 'The Node was deleted or replaced under the same name.',
    remedy: 'Nothing more is switched; check what the machine does.',
  },
  LeftOff: {
    code: 'NF011',
    summary: 'Something that nodefence switched off or closed is still off or closed.',
    remedy: 'Check the machine, then switch it on at the device that the message names.',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>;

export type ErrorName = keyof typeof ERRORS;

/** `NF003 Timeout: …` with what to do, for status messages. */
export function describeError(name: ErrorName, detail: string): string {
  const entry: ErrorDescription = ERRORS[name];
  const sentence = /[.!?]$/.test(detail) ? detail : `${detail}.`;
  return `${entry.code} ${name}: ${sentence} ${entry.remedy}`;
}
