/** What proves to the API server who we are. Never logged. */
export interface Credential {
  token?: string;
  certificatePem?: string;
  keyPem?: string;
}

/** Gives the credential that is valid now. */
export interface CredentialSource {
  current(): Promise<Credential>;
  /** The server answered 401: what is cached is worth nothing. `true` when the next `current` may give another one. */
  rejected(): boolean;
  /** What stands in files is read anew for the next `current`; nothing that is cached is thrown away. Absent: nothing does. */
  readAnew?(): void;
}
