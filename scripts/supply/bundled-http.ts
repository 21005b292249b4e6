/**
 * Stands for `node:http` in what ships. Who imports that by its name makes Node look up everything in it, WebSocket too, for which it loads its whole
 * client of fetch: 20 ms of CPU at the start of a controller, 1.4 MB of live heap and 3 MB resident, for nobody.
 */
export const { Agent, createServer, request } = process.getBuiltinModule('node:http');
