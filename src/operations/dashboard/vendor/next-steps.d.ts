export * from '../../../domain/next-steps.js';
