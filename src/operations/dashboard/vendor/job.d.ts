export * from '../../../domain/job.js';
