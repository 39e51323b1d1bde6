import { fileURLToPath } from 'node:url';

/** Folder of the dashboard's files. The path is the same from src/app and from dist/chunks, where the bundle puts this file. */
export const DASHBOARD = fileURLToPath(new URL('../operations/dashboard/', import.meta.url));
