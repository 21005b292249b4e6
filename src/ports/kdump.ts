import type { DumpFacts } from '../domain/kdump/dump.ts';

export interface Recognition {
  /** `dumping`: by the rules against forgery, its kernel dumps now. `over`: it did, and no kubelet has been heard since. */
  state: 'dumping' | 'over' | 'unheard';
  /** In words. */
  detail: string;
  /** Of the kubelet's lease, as the watch shows it: another one is a sign of life that has not arrived here. */
  renewTime?: string | undefined;
}

/** What the fence controller and agents are given of the listener for kdump messages. */
export interface KernelDumps {
  /** Asked again in the turn in which anything is sent. */
  factsOf(node: string): DumpFacts;
  /** What the messages come to by now, for whoever waits for them. */
  recognise(node: string): Recognition;
}

/** Where kdump messages arrive. Nothing is ever sent. */
export interface KdumpSocket {
  /** One receiver; it must not throw. `from`: the address alone. */
  receive(handle: (bytes: Uint8Array, from: string) => void): void;
  close(): void;
}
