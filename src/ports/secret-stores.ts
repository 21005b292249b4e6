/** Where a login is, besides a Secret: on the controller's machine. */
export interface SecretPlace {
  /** `file`: below the folder of `--secret-files`. `program`: what a program of the folder of `--programs` prints. */
  kind: 'file' | 'program';
  name: string;
}

/** What a program is told of the login that it is asked for. */
export interface SecretQuestion {
  node: string;
  method: string;
  agent: string;
  device: string;
}

export interface SecretStores {
  /** Why there is no such place, as far as its name and the controller's flags tell; undefined: there may be. */
  problem(place: SecretPlace): string | undefined;
  /** Keys and values, as those of a Secret, as they are now. Rejects with `SecretUnread`. */
  read(place: SecretPlace, question: SecretQuestion): Promise<Readonly<Record<string, string>>>;
}

/** The message says what, where, and what to do; never a value. */
export class SecretUnread extends Error {
  override readonly name = 'SecretUnread';
  /** Whoever keeps the login did not answer, or failed: it may do so when it is asked again. Otherwise a person must mend something. */
  readonly mayPass: boolean;
  constructor(message: string, { mayPass = false } = {}) {
    super(message);
    this.mayPass = mayPass;
  }
}
