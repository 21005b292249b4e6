import type { Reading } from '../../ports/agents.ts';

/** One plug of one node, read once. */
export interface ProbeResult {
  agent: string;
  device: string;
  plug: string;
  /** The methods that switch it. */
  methods: readonly string[];
  /** Absent: it could not be read, see `error`. */
  state?: Reading['state'];
  identity?: Reading['identity'];
  /** The device's own words. */
  detail?: string;
  latencyMs: number;
  /** When the certificate that the device showed, and the password in use, end (RFC 3339). */
  certificateExpiresAt?: string;
  credentialExpiresAt?: string;
  error?: string;
  /** Why it would refuse a set, such as a permission that is missing. */
  wouldRefuse?: string;
  /** What else of the device feeds the machine, and nothing switches. */
  overlooked?: string;
}
