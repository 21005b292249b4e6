import type { NodeDaemonPorts } from '../../../src/node/core/daemon.ts';
import type { UnfenceRecord } from '../../../src/ports/node-daemon.ts';

/** A shared device as a node sees it, and the file in /run: what is registered outlives the boot, what is recorded does not. */
export class StorageModel {
  readonly key = '123abc01';
  isRegistered = true;
  /** It says that it did, and did not. */
  liesOnce = false;
  /** A process of an earlier daemon still works on it. */
  isHung = false;
  record: UnfenceRecord | undefined;
  isRecordBroken = false;
  /** Each registration that was begun. */
  readonly registered: string[] = [];
  /** Called before anything is registered. */
  onRegister: () => void = () => undefined;

  get ports(): NonNullable<NodeDaemonPorts['unfence']> {
    return {
      registrations: {
        key: this.key,
        devices: ['/dev/disk/by-id/wwn-1'],
        read: () => {
          const found = this.isHung ? 'unknown' : this.isRegistered ? 'registered' : 'missing';
          return Promise.resolve({ found, detail: found } as const);
        },
        register: () => {
          this.onRegister();
          this.registered.push(this.key);
          if (!this.liesOnce) this.isRegistered = true;
          this.liesOnce = false;
          return Promise.resolve({ detail: 'done, as it says' });
        },
      },
      record: {
        read: () => (this.isRecordBroken ? Promise.reject(new Error('broken')) : Promise.resolve(structuredClone(this.record))),
        write: (record) => void (this.record = structuredClone(record)),
      },
    };
  }

  /** What stood in /run is gone. */
  reboot(): void {
    this.record = undefined;
  }
}
