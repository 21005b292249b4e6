import type { AgentDefinition, AgentRegistry } from '../ports/agents.ts';

/** Where the program stands: beside this file, once it is built. */
const PROGRAM = new URL('.', import.meta.url).href;

/**
 * The same agents. Their code is read when a plan first asks for one, and a package that was upgraded while the process ran has other files by then: no fence
 * of that agent would ever begin. `end` is told so, once; whoever starts the process anew starts what stands there now.
 */
export function endingWhenReplaced(registry: AgentRegistry, end: (reason: string) => void): AgentRegistry {
  let isTold = false;
  const known = new WeakMap<AgentDefinition, AgentDefinition>();
  const watched = (definition: AgentDefinition): AgentDefinition => {
    const create: AgentDefinition['create'] = async (context) => {
      try {
        return await definition.create(context);
      } catch (error) {
        if (!isTold && isOfReplaced(error)) {
          isTold = true;
          end(`the program was replaced by another version while it ran: ${error.message}`);
        }
        throw error;
      }
    };
    return { ...definition, create };
  };
  return {
    names: () => registry.names(),
    find(name) {
      const definition = registry.find(name);
      if (definition === undefined) return undefined;
      const found = known.get(definition) ?? watched(definition);
      known.set(definition, found);
      return found;
    },
  };
}

/** A file of the program is gone; a package that was never installed is another matter. */
function isOfReplaced(error: unknown): error is Error {
  const { code, url = '' } = error as NodeJS.ErrnoException & { url?: string };
  return code === 'ERR_MODULE_NOT_FOUND' && url.startsWith(PROGRAM);
}
