export * from '../../../domain/recovery-run.js';
