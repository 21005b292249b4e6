/** Where a BMC is reached, and as whom. */
export interface BmcAddress {
  host: string;
  port: number;
  username: string;
  password: string;
  /** Who signed its certificate; for Redfish. */
  caPem: string;
}

/** What an operator needs of a BMC. Rejects when the device says no, or nothing. */
export interface BmcClient {
  read(): Promise<'on' | 'off' | 'unknown'>;
  /** The device's answer. */
  set(state: 'on' | 'off'): Promise<string>;
}
