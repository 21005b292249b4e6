import { z } from 'zod';

/** A port of TCP or UDP, from the parameter that names it. */
export const portNumber = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number')
  .transform(Number)
  .refine((port) => port >= 1 && port <= 65_535, 'must be a port number');
