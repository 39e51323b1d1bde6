import { fileURLToPath } from 'node:url';

/** Two folders up and down again, from src/app as well as from dist/chunks, where the bundle puts this file. */
export const DASHBOARD = fileURLToPath(new URL('../operations/dashboard/', import.meta.url));
