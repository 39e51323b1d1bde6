export * from '../../../domain/failure-rules.js';
