/** What a line typed at a switch comes to. */
export interface CliAnswer {
  lines: readonly string[];
  /** It shows or changes a port: the faults of answers strike here. */
  isSlow?: boolean;
  isShow?: boolean;
  /** The session ends after it. */
  isEnd?: boolean;
}

/** One session with the command line of one kind of switch. */
export interface CliSession {
  prompt(): string;
  type(line: string): CliAnswer;
}

export type CliKind = 'ios' | 'nxos' | 'eos' | 'junos' | 'fos';
