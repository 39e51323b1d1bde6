export * from '../../../domain/job-state.js';
