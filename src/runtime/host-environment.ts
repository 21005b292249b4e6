import { open } from 'node:fs/promises';

import type { HostEnvironment } from '../ports/agents.ts';

const FILE_BYTES_MAX = 1_048_576;

/** Environment and files of this process. */
export function hostEnvironment(variables: NodeJS.ProcessEnv): HostEnvironment {
  return {
    variable: (name) => {
      const value = variables[name];
      return value === undefined || value === '' ? undefined : value;
    },
    readFile: async (path) => {
      try {
        const file = await open(path, 'r');
        try {
          const { size } = await file.stat();
          if (size > FILE_BYTES_MAX) throw new Error(`${path} is larger than ${FILE_BYTES_MAX} bytes`);
          return await file.readFile('utf8');
        } finally {
          await file.close();
        }
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
  };
}
